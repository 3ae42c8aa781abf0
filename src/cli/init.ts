import { lstatSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'

import { AppError, toError } from '../errors/app-error.js'
import { IGNORED, STARTER_FILES } from './init/starter-files.js'
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
