import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Markdown of every command with its arguments and flags, from the definitions with which the program parses. */
export async function cliReference(root, notice) {
  const program = await loadProgram(root)
  const lines = [
    '# Commands',
    '',
    notice,
    '',
    'This page lists, for users of the command line, every command with its arguments and flags, as `--help` prints them.',
    '[Command line](command-line.md) has the conventions and examples.',
    ...program.commands.flatMap((command) => sectionsOf(command, ['tidegate'], 2)),
  ]
  return `${lines.join('\n')}\n`
}

/**
 * Bundles the TypeScript of all commands into a temporary file below the project, where its
 * packages are found, and loads it.
 */
async function loadProgram(root) {
  const file = join(root, 'dist', `commands-${process.pid}.mjs`)
  const contents = `
    import { commands } from './src/cli/commands.ts'
    import { fullProgram } from './src/cli/completion.ts'
    const load = async () => new Map(await Promise.all([...commands].map(async ([name, { load }]) => [name, await load()])))
    export const program = await fullProgram(load, {})`
  const bundle = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    ...{
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      write: false,
      logLevel: 'warning',
    },
  })
  writeFileSync(file, bundle.outputFiles[0].text)
  try {
    return (await import(pathToFileURL(file).href)).program
  } finally {
    rmSync(file)
  }
}

function sectionsOf(command, before, floor) {
  const path = [...before, command.name()]
  return [
    '',
    `${'#'.repeat(floor)} ${path.join(' ')}`,
    '',
    command.description() || command.summary(),
    '',
    ...(command.commands.length === 0 ? ['```', `${path.join(' ')} ${command.usage()}`, '```', ''] : []),
    ...table(
      'argument',
      command.registeredArguments.map((each) => [each.name(), each.description]),
    ),
    ...table(
      'flag',
      command.options.filter(({ hidden }) => !hidden).map((each) => [each.flags, withDefault(each)]),
    ),
    ...command.commands.flatMap((sub) => sectionsOf(sub, path, 3)),
  ]
}

function withDefault({ description, argChoices, defaultValue }) {
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(['string', 'number'].includes(typeof defaultValue) ? [`default ${defaultValue}`] : []),
  ]
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`
}

function table(title, rows) {
  if (rows.length === 0) return []
  const cells = rows.map(([name, text]) => `| \`${name.replaceAll('|', '\\|')}\` | ${escapeCell(text)} |`)
  return [`| ${title} | |`, '|---|---|', ...cells, '']
}

/** Text for a table's cell, with all markup escaped. */
function escapeCell(text) {
  return text.replaceAll(/[\\`*_{}[\]<>|]/g, '\\$&').replaceAll('\n', ' ')
}
