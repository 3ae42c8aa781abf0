import { z } from 'zod'
import { ask } from '../http-client.js'
import type { Answered } from '../http-client.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import { evilModule, generateJson } from './evil-row.js'
import type { EvilRow } from './evil-row.js'

/** What became of one row, and of cheap requests beside it. */
interface EvilOutcome {
  readonly name: string
  /** 0 without an answer. */
  readonly status: number
  /** The code of the answer's error; empty for a denial. */
  readonly code: string
  readonly durationMs: number
  /** How many cheap requests were answered meanwhile, one after another, and the longest that one took. */
  readonly cheapAnswers: number
  readonly longestCheapMs: number
}

const CHEAP_MODULE =
  'package rules.cheap\n\nimport rego.v1\n\ndeny contains "no" if input.application == "other"\n'
const PAUSE_MS = 5
const NO_ANSWER = { status: 0, text: '{"code":"no_answer"}' }
const Problem = z.looseObject({ code: z.string().default('') })

/** Asks one service for every row, with a cheap request beside it, and stops it. Throws when a request finds no service. */
export async function runEvilRows(
  rows: readonly EvilRow[],
  finished: (outcome: EvilOutcome) => void = () => undefined,
): Promise<{ outcomes: EvilOutcome[]; exitCode: number | null }> {
  const workspace = makeWorkspace({ 'policies/cheap.rego': CHEAP_MODULE })
  rows.forEach((row, index) =>
    workspace.write({ [`policies/row_${index}.rego`]: evilModule(`row_${index}`, row) }),
  )
  try {
    const tidegate = await startTidegate({ workspace })
    const outcomes: EvilOutcome[] = []
    for (const [index, row] of rows.entries()) {
      const outcome = await runRow(tidegate, row, index)
      outcomes.push(outcome)
      finished(outcome)
    }
    return { outcomes, exitCode: await tidegate.end('SIGTERM') }
  } finally {
    workspace.remove()
  }
}

async function runRow(tidegate: TidegateProcess, row: EvilRow, index: number): Promise<EvilOutcome> {
  const body = bodyOf(row.x === undefined ? '' : `,"x":${generateJson(row.x)}`)
  const beginMs = performance.now()
  let isOver = false
  const evil = post(tidegate.url, `row_${index}`, body).finally(() => {
    isOver = true
  })
  const cheap = askCheapOnes(tidegate.url, () => isOver)
  // Whoever hangs up finds no answer: the table says so, and goes on.
  const { status, text } = await evil.catch(() => NO_ANSWER)
  const durationMs = performance.now() - beginMs
  const { code } = Problem.parse(JSON.parse(text))
  return { name: row.name, status, code, durationMs, ...(await cheap) }
}

async function askCheapOnes(
  url: string,
  isOver: () => boolean,
): Promise<Pick<EvilOutcome, 'cheapAnswers' | 'longestCheapMs'>> {
  const body = bodyOf('')
  let cheapAnswers = 0
  let longestCheapMs = 0
  do {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    const beginMs = performance.now()
    const { status, text } = await post(url, 'cheap', body)
    if (status !== 200) throw new Error(`a cheap request is answered with ${status}: ${text}`)
    cheapAnswers++
    longestCheapMs = Math.max(longestCheapMs, performance.now() - beginMs)
  } while (!isOver())
  return { cheapAnswers, longestCheapMs }
}

/** As the orchestrator asks a runtime policy, with more members, as text. */
function bodyOf(more: string): string {
  const asked = JSON.stringify({
    application: 'shop',
    name: 'prod-rollout',
    stage: 'Policy',
    executionId: '01J0ABCDEF',
    startTime: 1_718_000_000_123,
    gateId: null,
    trigger: { user: 'ana' },
    payloadConstraint: [{ region: 'eu' }],
  })
  return `${asked.slice(0, -1)}${more}}`
}

function post(url: string, packageName: string, body: string): Promise<Answered> {
  return ask(url, {
    path: `/v1/data/rules/${packageName}`,
    body,
    headers: { 'content-type': 'application/json' },
  })
}
