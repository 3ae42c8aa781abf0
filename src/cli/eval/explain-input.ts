import {
  evaluateTraced,
  evaluateWithAnswers,
  explainEvaluations,
  loadTraced,
  printJson,
  type ExplainMode,
  type Explanation,
  type Question,
  type Strictness,
} from '../../rego/index.js'
import { replayDecision, withRequests } from '../input/evaluate-once.js'
import { loadOptions } from '../input/open-policies.js'
import type { OpenPolicies } from '../input/open-policies.js'
import { Progress } from '../output/progress.js'
import type { Terminal } from '../session/terminal.js'

/** An evaluation to explain. */
export interface ExplainedInput {
  readonly path: readonly string[]
  readonly input: Uint8Array | undefined
  readonly strictness: Strictness
  /** Recorded results of built-ins, instead of new ones. */
  readonly ndBuiltinCache: Uint8Array | undefined
}

/**
 * Evaluates again with markers and explains the result. Raises as `loadTraced`; an evaluation that
 * fails is explained up to its failure.
 */
export async function explainInput(
  { config, snapshot }: OpenPolicies,
  { path, input, strictness, ndBuiltinCache }: ExplainedInput,
  mode: ExplainMode,
  terminal: Terminal,
): Promise<Explanation> {
  const question: Question = { kind: 'document', path }
  const data = [{ file: 'data.json', at: [], content: Buffer.from(printJson(snapshot.data)) }]
  const loading = loadTraced({ rego: snapshot.rego, data }, [path], loadOptions(config, terminal))
  const traced = await new Progress(terminal).during('compiling with markers …', loading)
  const { trace } = await withRequests(config, terminal, (requests) =>
    evaluateTraced(traced, question, input, (evaluate, options) =>
      ndBuiltinCache === undefined
        ? evaluateWithAnswers(evaluate, requests, { ...strictness, ...options })
        : replayDecision(evaluate, ndBuiltinCache, requests, { ...strictness, ...options }),
    ),
  )
  return explainEvaluations(traced, [{ question, trace }], mode)
}
