-- turns without proper fields
SELECT 1 FROM prompts
WHERE typeof(content) != 'text' OR typeof(content_hash) != 'text' OR typeof(role) != 'text'
    OR typeof(turn_index) != 'integer' OR length(text_hash) != 32 OR NOT json_valid(ifnull(metadata_json, '{}'))
LIMIT 1;

-- turns whose text is not what was stored
SELECT 1 FROM prompts WHERE text_hash != sha256(content) LIMIT 1;

-- vectors that are none
SELECT 1 FROM prompt_embeddings
WHERE typeof(vector_json) != 'text' OR NOT json_valid(vector_json) OR json_array_length(vector_json) != dim
LIMIT 1;

-- vectors of zeros that are not pending
SELECT 1 FROM prompt_embeddings WHERE (model = '') != (vector_json NOT GLOB '*[1-9]*')
UNION ALL SELECT 1 FROM task_embeddings WHERE (model = '') != (vector_json NOT GLOB '*[1-9]*');

-- blocks of vectors that do not fit together
SELECT 1 FROM vector_blocks b, embedding_meta m
WHERE m.key = 'embedding_dim'
    AND (length(b.codes) != length(b.ids) / 8 * m.value OR length(b.scales) != length(b.ids) / 2)
LIMIT 1;

-- tasks without proper fields
SELECT 1 FROM tasks
WHERE typeof(title) != 'text' OR NOT json_valid(metadata_json) OR NOT json_valid(tags_json)
LIMIT 1;

-- runs without proper fields
SELECT 1 FROM runs
WHERE typeof(turns_added) != 'integer' OR typeof(started_at) != 'text' OR typeof(outcome) != 'text'
    OR typeof(ifnull(duration_s, 0.0)) != 'real'
LIMIT 1;

-- files without proper fields
SELECT 1 FROM sources
WHERE typeof(path) != 'text' OR typeof(size) != 'integer' OR NOT json_valid(ifnull(problems, '[]'))
    OR NOT json_valid(ifnull(resume, '{}'))
LIMIT 1;

-- a list of rows to be deleted that is none
SELECT 1 FROM embedding_meta WHERE key = 'going' AND NOT json_valid(value);
