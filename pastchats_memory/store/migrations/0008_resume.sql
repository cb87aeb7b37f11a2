-- It may hold text as it stands in a file, secrets included: what was kept before they were taken out is forgotten. Each file that
-- grows is read once as a whole, and only what is new in it is embedded.
UPDATE sources SET resume = NULL;
