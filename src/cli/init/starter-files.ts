import { packageVersion } from '../../lib/package-root.js'

const POLICY = `# METADATA
# title: Description
# description: Whoever is on call must be able to see the purpose of a pipeline.
package static.description

import rego.v1

deny contains msg if {
	pipeline := input.new
	not has_description(pipeline)
	name := object.get(input, ["new", "name"], "unnamed")
	msg := sprintf("pipeline '%v' has no description; say what it is for", [name])
}

has_description(pipeline) if {
	is_string(pipeline.description)
	trim_space(pipeline.description) != ""
}
`

const POLICY_TEST = `package static.description_test

import data.static.description
import rego.v1

test_a_pipeline_without_a_description_is_denied if {
	expected := {"pipeline 'shop' has no description; say what it is for"}
	description.deny == expected with input as {"new": {"name": "shop"}}
}

test_a_blank_description_is_denied if {
	count(description.deny) == 1 with input as {"new": {"name": "shop", "description": " "}}
}

test_a_description_that_is_no_text_is_denied if {
	count(description.deny) == 1 with input as {"new": {"name": "shop", "description": 1}}
}

test_a_pipeline_with_a_description_is_allowed if {
	count(description.deny) == 0 with input as {"new": {"name": "shop", "description": "Rolls out the shop"}}
}
`

const PIPELINE = `{
  "name": "rollout",
  "application": "shop",
  "description": "Rolls out the shop to staging",
  "stages": [{ "type": "wait", "name": "Soak", "refId": "1", "requisiteStageRefIds": [], "waitTime": 30 }]
}
`

const CONFIGURATION = `# Start the service with: tidegate serve --config tidegate.yaml
server:
  addr: 127.0.0.1:8181
dataDir: data
policies:
  directories: [policies]
  # Packages that decide whether a pipeline may be saved.
  staticPackages: ['static.**']
`

const WORKFLOW = `name: policies
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  policies:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm install --global tidegate@${packageVersion()}
      - run: tidegate check --strict policies
      - run: tidegate test policies
      # Add your definitions: files, or directories with *.json.
      - run: tidegate check --config tidegate.yaml pipeline.json
`

const EDITOR = `{
  "opa.roots": ["\${workspaceFolder}/policies"],
  "opa.bundleMode": true,
  "opa.checkOnSave": true,
  "opa.languageServers": ["regal"],
  "[rego]": { "editor.formatOnSave": true, "editor.insertSpaces": false }
}
`

const LINTER = `rules:
  idiomatic:
    # A policy and its test are two files of one directory.
    directory-package-mismatch:
      level: ignore
  style:
    line-length:
      max-line-length: 120
`

/** Files that `tidegate init` creates, by path. */
export const STARTER_FILES: ReadonlyMap<string, string> = new Map([
  ['policies/static/description.rego', POLICY],
  ['policies/static/description_test.rego', POLICY_TEST],
  ['pipeline.json', PIPELINE],
  ['tidegate.yaml', CONFIGURATION],
  ['.github/workflows/policies.yml', WORKFLOW],
  ['.vscode/settings.json', EDITOR],
  ['.regal/config.yaml', LINTER],
])

/** Line of `.gitignore` for the data directory in the starter configuration. */
export const IGNORED = '/data/'
