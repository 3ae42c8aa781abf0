import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Every command with its arguments and flags, as Markdown, from the definitions that the program itself parses by. */
export async function cliReference(root) {
  const program = await loadProgram(root)
  const lines = [
    '# Commands and flags',
    '',
    'Every command, as `--help` after it tells. [Command line](docs/cli.md) shows them at work.',
    ...program.commands.flatMap((command) => sectionsOf(command, ['tidegate'], 2)),
  ]
  return `${lines.join('\n')}\n`
}

/** The commands are TypeScript: what tells of all of them is bundled for the moment, and runs from a file below the project, where its packages are. */
async function loadProgram(root) {
  const file = join(root, 'dist', `site-commands-${process.pid}.mjs`)
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
    ...(command.commands.length === 0 ? [`    ${path.join(' ')} ${command.usage()}`, ''] : []),
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

/** Text in a cell of a table, in which nothing is markup. */
function escapeCell(text) {
  return text.replaceAll(/[\\`*_{}[\]<>|]/g, '\\$&').replaceAll('\n', ' ')
}
