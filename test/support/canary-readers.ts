/**
 * The conclusions of the three known readers of a canary's status, each by its own rules
 * (orchestrator-clients.md, sections 3 and 4). None of them checks the HTTP status. A missing
 * member ends the stage.
 */
type StageConclusion = 'RUNNING' | 'SUCCEEDED' | 'TERMINAL'
type JobConclusion = 'running' | 'cancelled' | 'successful' | 'failed' | 'error'

/** The verification stage, which fails a canary between both scores. */
export function readAsVerification(body: unknown): StageConclusion {
  return orTerminal(() => {
    const status = textOf(memberOf(memberOf(body, 'status'), 'status')).toUpperCase()
    const result = memberOf(body, 'canaryResult')
    // The link to the report is shown from the first poll on.
    textOf(memberOf(result, 'canaryReportURL'))
    if (status === 'RUNNING') return 'RUNNING'
    return status === 'CANCELLED' ? 'TERMINAL' : concludeStage(body, 'TERMINAL')
  })
}

/** The test-verification stage, which lets a canary between both scores pass. */
export function readAsTestVerification(body: unknown): StageConclusion {
  return orTerminal(() => {
    const status = textOf(memberOf(memberOf(body, 'status'), 'status')).toUpperCase()
    if (status === 'RUNNING') return 'RUNNING'
    if (status === 'CANCELLED') return 'TERMINAL'
    textOf(memberOf(memberOf(body, 'canaryResult'), 'canaryReportURL'))
    return concludeStage(body, 'SUCCEEDED')
  })
}

/** The job of Argo Rollouts, which compares the rounded score with its own pass score. */
export function readAsJob(body: unknown, passScore: number): JobConclusion {
  try {
    const status = textOf(memberOf(memberOf(body, 'status'), 'status'))
    const result = memberOf(body, 'canaryResult')
    textOf(memberOf(result, 'canaryReportURL'))
    if (status === 'RUNNING') return 'running'
    if (status === 'CANCELLED') return 'cancelled'
    const score = Number(
      Object.hasOwn(Object(result) as object, 'overallScore') ? memberOf(result, 'overallScore') : 0,
    )
    if (Number.isNaN(score)) return 'error'
    return Math.round(score) >= passScore ? 'successful' : 'failed'
  } catch {
    return 'error'
  }
}

function concludeStage(body: unknown, between: StageConclusion): StageConclusion {
  const result = memberOf(body, 'canaryResult')
  const config = memberOf(body, 'canaryConfig')
  const score = numberOrZero(memberOf(result, 'overallScore'))
  const minimum = numberOrZero(memberOf(config, 'minimumCanaryResultScore'))
  const maximum = numberOrZero(memberOf(config, 'maximumCanaryResultScore'))
  const verdict = textOf(memberOf(result, 'overallResult')).toUpperCase()
  if (verdict === 'FAIL') return 'TERMINAL'
  if (verdict === 'SUCCESS') return 'SUCCEEDED'
  if (verdict === 'REVIEW' || (score >= minimum && score < maximum)) return between
  // An unknown word is polled until the limit of a day.
  return 'RUNNING'
}

function orTerminal(read: () => StageConclusion): StageConclusion {
  try {
    return read()
  } catch {
    return 'TERMINAL'
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
    throw new Error(`no ${name}`)
  return (value as Readonly<Record<string, unknown>>)[name]
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`no text: ${JSON.stringify(value)}`)
}

/** The stages take a text for 0. */
function numberOrZero(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
