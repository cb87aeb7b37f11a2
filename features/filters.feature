Feature: Filters that never lose a result

  Background:
    Given a memory database exists
    And past prompts are indexed from at least one project

  @ARCH-002 @MEM-002
  Scenario Outline: A filter leaves only what it names
    When the agent runs "pastchats-memory search --query 'what went wrong' --json <filter>"
    Then every result has <field> "<value>"

    Examples:
      | filter             | field          | value    |
      | --project tidemark | source_project | tidemark |
      | --role assistant   | role           | assistant |
      | --type note        | type           | note     |

  Scenario: A day means the whole day
    When the agent runs "pastchats-memory search --query 'webhook retries' --json --since 2026-02-03 --until 2026-02-03"
    Then every result is from "2026-02-03"

  @MEM-002
  Scenario: A narrow filter finds what ranks far below without it
    When the agent runs "pastchats-memory search --query 'webhook retries' --json --limit 1 --role system"
    Then every result has role "system"
