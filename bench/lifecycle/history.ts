import type { DecisionEntry } from '../../src/decisions/decision-log.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'
import { seededRandom } from '../../test/support/random-bytes.js'

const FIRST_MS = 1_750_000_000_000
const SEED = 20_252
/** Stages of pipelines: most are small, a few have some hundred. */
const STAGES = [4, 6, 8, 8, 12, 12, 20, 20, 30, 60, 200, 800]
/** For each save of a definition, this many executions ask a runtime policy. */
const EXECUTIONS_PER_SAVE = 10
const PIPELINES = 200

/**
 * A service's history: definitions that are saved again and again with small edits, and executions
 * of them in between, in the order of time. Always the same.
 */
export function* history(decisions: number): Generator<DecisionEntry> {
  const random = seededRandom(SEED)
  const pick = (count: number): number => Math.floor(random() * count)
  const definitions = Array.from({ length: PIPELINES }, (_, index) => ({
    ...generatePipeline(STAGES[index % STAGES.length] ?? 8),
    name: `rollout-${index}`,
    application: `app-${index % 40}`,
  }))
  for (let made = 0; made < decisions; made += 1) {
    const index = pick(PIPELINES)
    const definition = definitions[index]
    if (definition === undefined) continue
    const common = { timeMs: FIRST_MS + made * 1000, application: definition.application, revision: 'r1' }
    if (made % (EXECUTIONS_PER_SAVE + 1) > 0) {
      yield entryOf(
        made,
        { ...common, kind: 'runtime', path: 'runtime/blackout_window' },
        {
          payloadConstraint: [],
          startTime: FIRST_MS + made * 1000,
          application: definition.application,
          name: definition.name,
          stage: definition.stages[pick(definition.stages.length)]?.name,
          executionId: hex(random, 26),
          user: `person-${pick(50)}`,
          trigger: { type: 'manual', user: `person-${pick(50)}`, parameters: { version: hex(random, 40) } },
          outputs: definition.stages.slice(0, 12).map((stage) => ({ ...stage, id: hex(random, 26) })),
        },
      )
      continue
    }
    const at = pick(definition.stages.length)
    const edited = definition.stages.map((stage, place) =>
      place === at ? { ...stage, comments: `changed for ${hex(random, 8)}` } : stage,
    )
    definitions[index] = { ...definition, stages: edited }
    const saved = {
      ...definitions[index],
      updateTs: String(common.timeMs),
      lastModifiedBy: `person-${pick(50)}`,
    }
    yield entryOf(made, { ...common, kind: 'static', path: 'staticPolicy/eval' }, { new: saved })
  }
}

/** Decisions of 5.6 KB each about saved pipelines, no two alike. */
export function* smallDecisions(decisions: number, nowMs: number): Generator<DecisionEntry> {
  const random = seededRandom(SEED)
  const pipeline = generatePipeline(20)
  for (let made = 0; made < decisions; made += 1) {
    const application = `app-${made % 40}`
    const input = { new: { ...pipeline, application, name: hex(random, 16), index: made } }
    const timeMs = nowMs - (decisions - made)
    yield entryOf(
      made,
      { timeMs, application, revision: 'r1', kind: 'static', path: 'staticPolicy/eval' },
      input,
    )
  }
}

function entryOf(
  made: number,
  about: Pick<DecisionEntry, 'timeMs' | 'application' | 'revision' | 'kind' | 'path'>,
  input: object,
): DecisionEntry {
  return {
    ...about,
    decisionId: `d-${made}`,
    outcome: 'allow',
    durationNs: 100_000,
    input: Buffer.from(JSON.stringify(input)),
    result: Buffer.from('[]'),
  }
}

function hex(random: () => number, length: number): string {
  return Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')
}
