import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { explainDecision } from '../explain/explain-decision.js'
import type { ExplainDecision } from '../explain/explain-decision.js'
import { TracedRuns } from '../explain/traced-runs.js'
import { timesOfThread } from '../lib/threads/thread-cpu-time.js'
import { KeptRevisions, hostBuiltins } from '../rego/index.js'
import { openRequests } from './evaluations/open-requests.js'
import { startSlowThread } from './evaluations/open-evaluations.js'
import { findServiceOpa } from './files/service-opa.js'

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

/** Sets up explanations of decisions. A thread starts for each and ends with it. */
export function openExplanations(config: Config, revisions: KeptRevisions): ExplainDecision {
  const runs = new TracedRuns({
    load: {
      findOpa: () => findServiceOpa(config),
      builtins: hostBuiltins,
      limits: config.policies.limits,
    },
    thread: { start: startSlowThread, timesOf: timesOfThread },
  })
  const deps = { runs, revisions, requests: openRequests(config, process.env), policies: config.policies }
  return (decision, options) => explainDecision(deps, decision, options)
}
