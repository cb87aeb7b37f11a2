Feature: Persistent prompt memory recall

  Background:
    Given a memory database exists
    And past prompts are indexed from at least one project

  @ARCH-002 @MEM-002
  Scenario: Agent searches memory with hybrid ranking
    When the agent runs "pastchats-memory search --query 'retry strategy'"
    Then the system returns ranked results
    And each result has a hybrid score

  @ARCH-003 @MEM-004
  Scenario: Agent runs pre-task recall
    When the agent runs "pastchats-memory recall --query 'build webhook retries'"
    Then the output contains "# Memory Recall"
    And each memory entry contains "Source:"

  @MEM-003
  Scenario: sqlite-vec extension is not installed
    Given sqlite-vec fails to load
    When the agent runs semantic retrieval
    Then the system returns results using fallback cosine search

  @MEM-001
  Scenario Outline: Indexed prompts always receive embeddings
    Given a parsed prompt turn with role "<role>"
    When indexing is executed
    Then prompt rows and embedding rows remain equal

    Examples:
      | role      |
      | user      |
      | assistant |
      | system    |
