import { spawn } from 'node:child_process'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { makeExampleWorld } from '../support/documentation/example-world.js'
import type { ExampleWorld } from '../support/documentation/example-world.js'
import { NOT_RUN, reasonNotToRun } from '../support/documentation/not-run.js'
import { documentedCommands } from '../support/documentation/read-commands.js'
import type { DocumentedCommand } from '../support/documentation/read-commands.js'

const COMMANDS = documentedCommands()
/** Commands that no earlier page shows with the same output. */
const RUN = COMMANDS.filter(
  ({ text, output = '' }, index) =>
    reasonNotToRun(text) === undefined &&
    !COMMANDS.slice(0, index).some((other) => other.text === text && ['', other.output].includes(output)),
)
const SERVING = /^(?:npx )?tidegate serve(?! --addr 0\.0\.0\.0)/
/** Exit codes other than 0. */
const EXIT_CODES: readonly (readonly [RegExp, number])[] = [
  [/check test\/cases\/pipelines(?: |$)/, 1],
  [/check test\/cases\/pipelines\/deny-unjudged-production-deploy\.json$/, 1],
  [/absent\.json/, 2],
  // The storage service of this test lists no applications, so the reconciliation fails.
  [/tidegate (?:(?:orchestrator )?doctor|fleet)/, 1],
  [/analysis start cart/, 1],
  // The files of this test begin two hours ago.
  [/analysis (?:backtest|plan) shop/, 1],
  // The service of this test needs no approvals.
  [/exceptions approve/, 2],
  [/serve --addr 0\.0\.0\.0/, 2],
  [/TIDEGATE_SERVER_ADRR|tidegate evl|--polices|eval --input - --format json/, 2],
]
/** Commands whose output depends on a reader's own policy, or on earlier commands to the service. */
const OTHER_OUTPUT = [/gates list$/, /gates show 1$/, /\/status$/, /^tidegate check policies$/]
const TIMEOUT_MS = 60_000
/** Age of a canary whose half hour is over. */
const CANARY_AGE_MS = 90 * 60_000

let world: ExampleWorld
beforeAll(async () => {
  world = await makeExampleWorld()
}, TIMEOUT_MS)
afterAll(() => world.close())

/** Replaces the addresses, directories and placeholders of a command by those of this test. */
function fitted(command: string): string {
  return command
    .replaceAll(/(?:http:\/\/)?(?:127\.0\.0\.1|localhost):8181/g, world.url)
    .replaceAll('http://127.0.0.1:7002', world.storageUrl)
    .replaceAll('/var/lib/tidegate-new', `${world.path}/restored`)
    .replaceAll('/var/lib/tidegate', `${world.path}/data`)
    .replaceAll('/backups/2026-11-22', `${world.path}/backup`)
    .replaceAll('/backups/before-upgrade', `${world.path}/backup-before-upgrade`)
    .replaceAll('--public-key KEY', `--public-key ${world.publicKey}`)
    .replaceAll('1200:HASH', endOfTrail)
    .replaceAll('gates reject 17', 'gates reject 16')
    .replaceAll('gates cancel 17', 'gates cancel 15')
    .replaceAll(
      '--lifetime 30',
      `--lifetime 30 --canary-start ${new Date(Date.now() - CANARY_AGE_MS).toISOString()}`,
    )
}

function environment({ text }: DocumentedCommand): Record<string, string> {
  if (SERVING.test(text)) {
    const dataDir = `${world.path}/served-${text.length}`
    return { ...world.env, TIDEGATE_SERVER_ADDR: '127.0.0.1:0', TIDEGATE_DATA_DIR: dataDir }
  }
  const service = { TIDEGATE_URL: world.url, TIDEGATE_ORCHESTRATOR_STORAGE_URL: world.storageUrl }
  return { ...world.env, ...service }
}

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command until it exits. Stops a service once it serves. */
async function run(command: DocumentedCommand): Promise<Ended> {
  const isServing = SERVING.test(command.text)
  const script = `${isServing ? 'exec ' : ''}${fitted(command.text)}`
  const child = spawn('sh', ['-c', script], {
    ...{ cwd: world.path, env: environment(command), timeout: TIMEOUT_MS },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr, isStopped] = ['', '', false]
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
    if (!isServing || isStopped || !stderr.includes('"serving"')) return
    isStopped = true
    child.kill('SIGTERM')
  })
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { status, stdout, stderr }
}

let endOfTrail = ''

/** Matches output that differs from the page in ids and times only; `…` matches anything. */
function likeShown(output: string): RegExp {
  const pattern = output
    .trimEnd()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[0-9a-f-]{36}')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\\\.\d+Z/g, '[\\d:.TZ-]+')
    .replaceAll(/("durationMs":)[\d\\.]+/g, '$1[\\d.e-]+')
    .replaceAll('…', '[^]*')
  return new RegExp(`^${pattern}\\s*$`)
}

describe('commands of the documentation', () => {
  test('are found in the README and in all pages', () => {
    expect(COMMANDS.length).toBeGreaterThan(80)
    expect(RUN.length).toBeGreaterThan(55)
    expect(NOT_RUN.filter(([pattern]) => !COMMANDS.some(({ text }) => pattern.test(text)))).toEqual([])
  })

  test.each(RUN)(
    'work: $page:$row: $text',
    async (command) => {
      const { text, output } = command
      const ended = await run(command)
      const expected = EXIT_CODES.find(([pattern]) => pattern.test(text))?.[1] ?? 0
      expect(ended).toEqual({ ...ended, status: expected })
      endOfTrail = /^end: (\S+)$/m.exec(ended.stdout)?.[1] ?? endOfTrail
      if (output === undefined || OTHER_OUTPUT.some((pattern) => pattern.test(text))) return
      // `curl` writes its progress to stderr.
      const printed = text.startsWith('curl') ? ended.stdout : `${ended.stdout}${ended.stderr}`
      expect(printed).toMatch(likeShown(output))
    },
    2 * TIMEOUT_MS,
  )
})
