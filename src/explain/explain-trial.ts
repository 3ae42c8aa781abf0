import { createHash } from 'node:crypto'

import { AppError } from '../errors/app-error.js'
import { explainEvaluations, parseDataPath, replayCalls, withFiles } from '../rego/index.js'
import type { Explanation } from '../rego/index.js'
import { refuseIncompleteSources } from './explain-decision.js'
import type { ExplainDecisionDeps } from './explain-decision.js'

/** A changed policy file with the document to evaluate. */
export interface ExplainedTrial {
  readonly file: string
  readonly text: string
  readonly path: string
  /** JSON text; undefined without an input. */
  readonly input: string | undefined
}

/** The policies that a trial changes, and its time in epoch milliseconds. */
export interface TrialBasis {
  readonly revision: string
  readonly nowMs: number
}

/** `explainTrial` of a service. */
export type ExplainTrial = (trial: ExplainedTrial, basis: TrialBasis) => Promise<Explanation>

/**
 * Evaluates a document with a changed file and the other policies of a revision, and explains the
 * result. Raises `invalid` for Rego that does not compile, `conflict` or `not_found` if the sources
 * of the revision are not stored, and `unavailable` if too many explanations wait.
 */
export async function explainTrial(
  { runs, revisions, requests }: Omit<ExplainDecisionDeps, 'policies'>,
  { file, text, path, input }: ExplainedTrial,
  { revision, nowMs }: TrialBasis,
): Promise<Explanation> {
  const sources = await revisions.read(revision, nowMs)
  if (sources === undefined) {
    throw new AppError(
      'not_found',
      'The sources of the policies that serve are not stored, so nothing can be explained. Set decisions.enabled to true.',
      { code: 'revision_gone' },
    )
  }
  refuseIncompleteSources(sources)
  const digest = createHash('sha256')
    .update(JSON.stringify([file, text]))
    .digest('hex')
  const changed = {
    ...sources,
    revision: `${revision} ${digest}`,
    rego: withFiles(sources.rego, { [file]: text }),
  }
  const question = { kind: 'document', path: parseDataPath(path) } as const
  return await runs.inTurn(async () => {
    const traced = await runs.load(changed, [question.path])
    const result = await runs.run(traced, {
      ...{ question, nowMs, calls: replayCalls('{}', requests) },
      input: input === undefined ? undefined : Buffer.from(input),
      // As `opa eval` evaluates trials.
      ...{ strictBuiltinErrors: true, isVerdict: false },
    })
    if (result.error !== undefined) throw result.error
    return explainEvaluations(traced, [{ question, trace: result.trace }], 'full')
  })
}
