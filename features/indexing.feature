Feature: Indexing what lies on the disk

  Background:
    Given a memory database exists
    And past prompts are indexed from at least one project

  @MEM-001
  Scenario: Indexing the same history twice adds nothing
    When the same history is indexed again
    Then no turn is added
    And prompt rows and embedding rows remain equal

  @MEM-001
  Scenario: A history that was moved is not remembered twice
    When the history is moved to another folder and indexed there
    Then no turn is added
    And prompt rows and embedding rows remain equal

  @ARCH-002
  Scenario: A conversation that goes on is found by its newest words
    Given a conversation that ends with "the quokka exporter is green again"
    When indexing is executed
    And the agent runs "pastchats-memory search --mode keyword --json 'quokka exporter'"
    Then the first result says "quokka exporter is green again"

  Scenario: Files that are no conversation are named, not dropped in silence
    Given a file that is no conversation
    When indexing is executed
    Then the output contains "Not taken"
    And the output contains "shopping.json"
