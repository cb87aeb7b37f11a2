Feature: A fault of the database file is explained

  What SQLite says about its files means little to the person whose memory it is. They read what is wrong and what to do.

  Background:
    Given a memory database exists

  @ARCH-001
  Scenario Outline: The database file is <fault>
    Given the database file is <fault>
    When the agent runs "pastchats-memory recall --query 'build webhook retries'"
    Then the command explains "<explanation>"
    And nothing of the program's inside is shown

    Examples:
      | fault                      | explanation                        |
      | a text file                | not a database                     |
      | another program's database | another program's SQLite database  |
      | gone                       | there is no database yet           |
      | from a newer release       | schema version 900                 |
      | from an older build        | unreleased older build             |
