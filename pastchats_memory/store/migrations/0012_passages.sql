-- By what a citation is checked. The next index run makes it for every file that is as it was read.
ALTER TABLE sightings ADD COLUMN passage BLOB;
ALTER TABLE tasks ADD COLUMN passage BLOB;

CREATE INDEX sightings_without_passage ON sightings(source_id) WHERE passage IS NULL;
