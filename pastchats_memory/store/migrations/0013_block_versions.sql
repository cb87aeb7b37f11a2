-- By what it is known that a block is as it was read, so that a question after a write reads again only what was written.
CREATE TABLE vector_block_versions (
  block INTEGER PRIMARY KEY,
  version INTEGER NOT NULL
);

INSERT INTO vector_block_versions(block, version) SELECT block, random() FROM vector_blocks;

CREATE TRIGGER vector_block_versions_insert AFTER INSERT ON vector_blocks BEGIN
  DELETE FROM vector_block_versions WHERE block = new.block;
  INSERT INTO vector_block_versions(block, version) VALUES (new.block, random());
END;

CREATE TRIGGER vector_block_versions_update AFTER UPDATE ON vector_blocks BEGIN
  DELETE FROM vector_block_versions WHERE block IN (old.block, new.block);
  INSERT INTO vector_block_versions(block, version) VALUES (new.block, random());
END;

CREATE TRIGGER vector_block_versions_delete AFTER DELETE ON vector_blocks BEGIN
  DELETE FROM vector_block_versions WHERE block = old.block;
END;
