import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values: flags } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    to: { type: 'string', default: '800' },
    step: { type: 'string', default: '1' },
    /** Policies that every set holds beside the generated ones. */
    beside: { type: 'string', default: '' },
  },
})
const PROGRESS_EVERY = 50
const PROGRAM = 'dist/cli.js'

/** Compiles and loads sets of one package more each, as the service does, and asks the last package of each set. */
function main(): void {
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-policy-counts-'))
  try {
    const failed = tryAll(directory)
    if (failed > 0) process.exitCode = 1
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The number of sets that do not load. */
function tryAll(directory: string): number {
  const [from, to, step] = [Number(flags.from), Number(flags.to), Number(flags.step)]
  for (let number = 1; number < from; number++) writePackage(directory, number)
  let [loaded, failed] = [0, 0]
  for (let count = from; count <= to; count++) {
    writePackage(directory, count)
    if ((count - from) % step !== 0) continue
    const problem = tryCount(directory, count)
    if (problem === undefined) loaded += 1
    else failed += 1
    if (problem !== undefined) console.log(`${count} packages: ${problem}`)
    if ((loaded + failed) % PROGRESS_EVERY === 0) console.log(`${count}: ${loaded} loaded, ${failed} did not`)
  }
  const beside = flags.beside === '' ? '' : ` beside ${flags.beside}`
  console.log(`${from} to ${to} packages by ${step}${beside}: ${loaded} sets loaded, ${failed} did not`)
  return failed
}

/** What is wrong with the set; undefined when it loads and denies as it says. */
function tryCount(directory: string, count: number): string | undefined {
  const directories = flags.beside === '' ? [directory] : [flags.beside, directory]
  const policies = directories.flatMap((path) => ['--policies', path])
  const rule = `static/generated${count}/deny`
  const args = [PROGRAM, 'eval', ...policies, '--entrypoint', rule, '--input', '-']
  const input = JSON.stringify({ stage: `kind${count}` })
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input, encoding: 'utf8' })
  if (status !== 0) return stderr.trim()
  return stdout === `{"result":["${denial(count)}"]}\n` ? undefined : `answers ${stdout.trim()}`
}

function denial(number: number): string {
  return `stages of this kind are refused: no ${number}`
}

function writePackage(directory: string, number: number): void {
  const folder = join(directory, `p${number}`)
  mkdirSync(folder)
  const rule = `deny[message] { input.stage == "kind${number}"; message := "${denial(number)}" }`
  writeFileSync(join(folder, 'policy.rego'), `package static.generated${number}\n${rule}\n`)
}

main()
