Feature: Silence when nothing fits

  An agent that is handed memories which have nothing to do with its task is worse off than one that is handed none.

  Background:
    Given a memory database exists
    And past prompts are indexed from at least one project

  @ARCH-003
  Scenario Outline: Nothing is recalled for a task that was never talked about
    When the agent runs "pastchats-memory recall --query '<task>'"
    Then the command found nothing
    And the output contains "Nothing found"
    And there is no memory entry

    Examples:
      | task                                    |
      | zoning law for beekeeping in Bavaria    |
      | translate the opera libretto to Finnish |

  @ARCH-003 @MEM-004
  Scenario: A small budget shortens the block and never cuts off a source
    When the agent runs "pastchats-memory recall --query 'build webhook retries' --budget 400"
    Then the output contains "# Memory Recall"
    And each memory entry contains "Source:"
    And the block is within 400 tokens

  @ARCH-003
  Scenario: A budget that holds no memory is not mistaken for an empty memory
    When the agent runs "pastchats-memory recall --query 'build webhook retries' --budget 100"
    Then the command found nothing
    And the output contains "There are memories of this; a budget of"
    And the block is within 100 tokens
