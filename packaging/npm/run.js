#!/usr/bin/env node
// Run pastchats-memory by uv, so that `npx pastchats-memory recall "…"` works without a Python.
"use strict";
const { spawnSync } = require("node:child_process");
const { version } = require("./package.json");

const source = process.env.PASTCHATS_MEMORY_PACKAGE || `pastchats-memory==${version}`;
const done = spawnSync("uv", ["tool", "run", "--from", source, "pastchats-memory", ...process.argv.slice(2)], { stdio: "inherit" });
if (done.error) {
  console.error("pastchats-memory needs uv: https://docs.astral.sh/uv/getting-started/installation");
  process.exit(1);
}
process.exit(done.status === null ? 1 : done.status);
