-- How a file is read if the user said so: JSON of --format and --map; NULL: as detected.
ALTER TABLE sources ADD COLUMN read_as TEXT;
