import { z } from 'zod'
import { ask } from '../http-client.js'
import type { Answered } from '../http-client.js'
import { threadTimeMs, threadTimesMs } from '../thread-times.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import { evilModule, generateJson } from './evil-row.js'
import type { EvilRow } from './evil-row.js'

/** The result of one row, and of concurrent cheap requests. */
interface EvilOutcome {
  readonly name: string
  /** 0 without an answer. */
  readonly status: number
  /** The code of the answer's error; empty for a denial. */
  readonly code: string
  readonly durationMs: number
  /** CPU time of the service's busiest thread. 0 if the system does not report it. */
  readonly busiestThreadMs: number
  /** Number of cheap requests answered during it, one after another, and the longest latency. */
  readonly cheapAnswers: number
  readonly longestCheapMs: number
  /** The longest CPU time of the deciding thread while one of them waited. NaN if it is unknown. */
  readonly decidingMs: number
}

const CHEAP_MODULE =
  'package rules.cheap\n\nimport rego.v1\n\ndeny contains "no" if input.application == "other"\n'
const PAUSE_MS = 10
const NO_ANSWER = { status: 0, text: '{"code":"no_answer"}' }
const Problem = z.looseObject({ code: z.string().default('') })

/**
 * Sends every row to one service, with concurrent cheap requests, and stops it. Throws if the
 * service does not answer a request.
 */
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
  const cheap = sendCheapRequests(tidegate, () => isOver)
  // A client that hangs up gets no response. The table shows that, and the run continues.
  const { status, text } = await evil.catch(() => NO_ANSWER)
  const durationMs = performance.now() - beginMs
  const { code } = Problem.parse(JSON.parse(text))
  return { name: row.name, status, code, durationMs, ...(await cheap) }
}

async function sendCheapRequests(
  { url, pid }: Pick<TidegateProcess, 'url' | 'pid'>,
  isOver: () => boolean,
): Promise<Pick<EvilOutcome, 'busiestThreadMs' | 'cheapAnswers' | 'decidingMs' | 'longestCheapMs'>> {
  const body = bodyOf('')
  const timesBefore = threadTimesMs(pid)
  let [cheapAnswers, longestCheapMs, decidingMs, busiestThreadMs] = [0, 0, 0, 0]
  do {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    const beginMs = performance.now()
    const workedMs = threadTimeMs(pid, pid)
    const { status, text } = await post(url, 'cheap', body)
    if (status !== 200) throw new Error(`a cheap request is answered with ${status}: ${text}`)
    cheapAnswers++
    longestCheapMs = Math.max(longestCheapMs, performance.now() - beginMs)
    decidingMs = Math.max(decidingMs, threadTimeMs(pid, pid) - workedMs)
    // Threads are compared during the request, because a thread that exceeds its budget is ended.
    for (const [thread, timeMs] of threadTimesMs(pid))
      busiestThreadMs = Math.max(busiestThreadMs, timeMs - (timesBefore.get(thread) ?? 0))
  } while (!isOver())
  return { busiestThreadMs, cheapAnswers, decidingMs, longestCheapMs }
}

/** The orchestrator's request to a runtime policy, with more members, as text. */
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
