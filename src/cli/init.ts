import { lstatSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { AppError, toError } from '../errors/app-error.js'
import { packageVersion } from '../lib/package-root.js'
import { printable } from '../lib/text/shown-text.js'
import { EXIT } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface InitOptions extends OutputOptions {
  readonly force?: true
}

const IGNORE_FILE = '.gitignore'
const NEXT = [
  'tidegate test policies',
  'tidegate check --config tidegate.yaml pipeline.json',
  'tidegate serve --config tidegate.yaml --watch',
]

/** `tidegate init`: creates a policy with a test, and the files around it. */
export function defineInit(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Creates a starter policy with its test, an example pipeline, a configuration, a CI workflow and editor settings, and adds the data directory to .gitignore. If one of the files exists, it writes nothing and names each one.',
    )
    .argument('[dir]', 'directory to create the files in', '.')
    .option('--force', 'overwrite existing files')
    .addHelpText('after', examples('tidegate init', 'tidegate init delivery-policies'))
    .action(async (directory: string, options: InitOptions) => {
      session.exitCode = await init(directory, options, session.terminal)
    })
}

async function init(directory: string, options: InitOptions, terminal: Terminal): Promise<ExitCode> {
  const files = [...STARTER_FILES].map(([name, text]) => ({ path: join(directory, name), text }))
  const present = files.map(({ path }) => path).filter(exists)
  if (present.length > 0 && options.force !== true) {
    throw new AppError(
      'conflict',
      `Nothing was written, because these files exist: ${present.join(', ')}. Pass --force to overwrite them, or name another directory.`,
      { code: 'file_exists' },
    )
  }
  for (const { path, text } of files) await write(path, text)
  const ignoreFile = join(directory, IGNORE_FILE)
  const created = [
    ...files.map(({ path }) => path),
    ...((await addIgnoredLine(ignoreFile)) ? [ignoreFile] : []),
  ]
  const next = directory === '.' ? NEXT : [`cd ${quoted(directory)}`, ...NEXT]
  if (options.format === 'json') outJson(terminal, { files: created, next })
  else {
    const lines = [
      ...created.map((path) => `wrote  ${path}`),
      '',
      'Next:',
      ...next.map((each) => `  ${each}`),
    ]
    terminal.out(`${lines.map(printable).join('\n')}\n`)
  }
  return EXIT.fine
}

/** Returns whether a path exists, also as a symbolic link without a target. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // A file is in the place of a directory; writing reports it.
    return false
  }
}

/** Adds the line for the data directory to `.gitignore`. Returns false if it is there. */
async function addIgnoredLine(path: string): Promise<boolean> {
  const text = exists(path) ? await readText(path) : ''
  if (text.split(/\r?\n/).includes(IGNORED)) return false
  await write(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${IGNORED}\n`)
  return true
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (raw) {
    throw new AppError('invalid', `read ${path}: ${toError(raw).message}`, { cause: raw })
  }
}

async function write(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  } catch (raw) {
    throw new AppError('invalid', `write ${path}: ${toError(raw).message}`, { cause: raw })
  }
}

/** Returns a path as one word of a shell. */
function quoted(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}

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
const STARTER_FILES: ReadonlyMap<string, string> = new Map([
  ['policies/static/description.rego', POLICY],
  ['policies/static/description_test.rego', POLICY_TEST],
  ['pipeline.json', PIPELINE],
  ['tidegate.yaml', CONFIGURATION],
  ['.github/workflows/policies.yml', WORKFLOW],
  ['.vscode/settings.json', EDITOR],
  ['.regal/config.yaml', LINTER],
])

/** Line of `.gitignore` for the data directory in the starter configuration. */
const IGNORED = '/data/'
