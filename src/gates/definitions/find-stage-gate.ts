import type { Gate, StageType } from '../../store/ports/gate.js'
import type { ReadOperation } from '../../store/ports/readers.js'

/** A pipeline stage as named by the orchestrator's plugins. */
export interface StageName {
  readonly application: string
  readonly pipeline: string
  readonly stage: string
}

/** A rule for stages. An absent member matches any stage. */
export interface StageRule {
  readonly application?: string | undefined
  readonly pipeline?: string | undefined
  readonly stage?: string | undefined
}

/** Returns the most specific matching rule. Among equals, the first. */
export function findStageRule<Rule extends StageRule>(
  rules: readonly Rule[],
  wanted: StageName,
): Rule | undefined {
  let best: { readonly rule: Rule; readonly weight: number } | undefined
  for (const rule of rules) {
    const weight = fit(rule, wanted)
    if (weight !== undefined && weight > (best?.weight ?? -1)) best = { rule, weight }
  }
  return best?.rule
}

/**
 * Returns the gate of a stage. A gate without `stage` is for the stage of its own name. Gates
 * declared by an operator take precedence over those from a stage's form, however general they are:
 * editing a pipeline must not bypass them.
 */
export function findStageGate(
  gates: readonly Gate[],
  wanted: StageName,
  type: StageType = 'approval',
): Gate | undefined {
  const rules = gates
    .filter((gate) => gate.isEnabled && typeOf(gate) === type)
    .map((gate) => ({
      gate,
      application: gate.application,
      pipeline: gate.pipeline,
      stage: gate.stage ?? gate.name,
    }))
  const declared = rules.filter(({ gate }) => gate.origin !== 'stage')
  const made = rules.filter(({ gate }) => gate.origin === 'stage')
  return (findStageRule(declared, wanted) ?? findStageRule(made, wanted))?.gate
}

/** Stage type of a gate. */
export function typeOf({ type = 'approval' }: Pick<Gate, 'type'>): StageType {
  return type
}

/** Finds the gate of a stage among all gates. */
export const findGateOfStage: ReadOperation<
  { readonly stage: StageName; readonly type: StageType },
  Gate | undefined
> = {
  name: 'gates.of-stage',
  apply: async ({ gates }, { stage, type }) => findStageGate(await gates.listGates(), stage, type),
}

/**
 * Number of members that a rule names; undefined if one differs. Application names ignore case
 * (Front50).
 */
function fit(rule: StageRule, wanted: StageName): number | undefined {
  if (rule.application !== undefined && rule.application.toLowerCase() !== wanted.application.toLowerCase())
    return undefined
  if (rule.pipeline !== undefined && rule.pipeline !== wanted.pipeline) return undefined
  if (rule.stage !== undefined && rule.stage !== wanted.stage) return undefined
  return [rule.application, rule.pipeline, rule.stage].filter((member) => member !== undefined).length
}
