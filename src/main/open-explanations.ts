import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { explainDecision } from '../explain/explain-decision.js'
import type { ExplainDecision } from '../explain/explain-decision.js'
import { explainTrial } from '../explain/explain-trial.js'
import type { ExplainTrial } from '../explain/explain-trial.js'
import { TracedRuns } from '../explain/traced-runs.js'
import { timesOfThread } from '../lib/threads/thread-cpu-time.js'
import type { FindRules, RulesOf } from '../decisions/name-rules.js'
import { KeptRevisions, definitionsOfReason, hostBuiltins, verdictDefinitions } from '../rego/index.js'
import { openRequests } from './evaluations/open-requests.js'
import { startSlowThread } from './evaluations/open-evaluations.js'
import { findServiceOpa } from './files/service-opa.js'
import type { Reloads } from './reload/reloads.js'
import { compileModuleInThread, loadDataInThread } from './threads/load-threads.js'

const MS_PER_DAY = 86_400_000
/** In the data directory. Without it, decisions of earlier revisions cannot be explained. */
const REVISIONS = 'revisions'

/** The stored sources of the revisions that decided. */
export function openRevisions({ dataDir, decisions }: Pick<Config, 'dataDir' | 'decisions'>): KeptRevisions {
  return new KeptRevisions(join(dataDir, REVISIONS), {
    maxBytes: decisions.enabled ? decisions.maxSourcesBytes : 0,
    maxAgeMs: decisions.maxAgeDays * MS_PER_DAY,
    now: Date.now,
  })
}

/** Revisions whose rules are kept in memory. */
const MAX_KEPT_RULES = 8

/** Finds the rule that gave a reason, in the stored sources of the revision that decided. */
export function openRules(revisions: KeptRevisions): RulesOf {
  const kept = new Map<string, FindRules>()
  return async (revision, timeMs) => {
    const known = kept.get(revision)
    if (known !== undefined) return known
    const sources = await revisions.read(revision, timeMs)
    if (sources === undefined) return undefined
    const definitions = verdictDefinitions(sources.rego)
    const find: FindRules = (name, reason) => definitionsOfReason(definitions, name, reason)
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT_RULES && oldest !== undefined) kept.delete(oldest)
    kept.set(revision, find)
    return find
  }
}

/** Explanations of decisions and of changed policies. */
export interface Explanations {
  readonly explain: ExplainDecision
  readonly explainTrial: ExplainTrial
}

/** Sets up explanations. A thread starts for each and ends with it. */
export function openExplanations(reloads: Pick<Reloads, 'config'>, revisions: KeptRevisions): Explanations {
  const runs = new TracedRuns({
    load: {
      findOpa: () => findServiceOpa(reloads.config),
      builtins: hostBuiltins,
      loadData: loadDataInThread,
      compileModule: compileModuleInThread,
      limits: reloads.config.policies.limits,
    },
    thread: { start: startSlowThread, timesOf: timesOfThread },
  })
  const deps = { runs, revisions, requests: openRequests(reloads.config, process.env) }
  return {
    explain: (decision, options) =>
      explainDecision({ ...deps, policies: reloads.config.policies }, decision, options),
    explainTrial: (trial, basis) => explainTrial(deps, trial, basis),
  }
}
