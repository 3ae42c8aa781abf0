import type { Gate, StageType } from '../../store/ports/gate.js'
import type { ReadOperation } from '../../store/ports/readers.js'

/** A stage of a pipeline as the orchestrator's plugins name it. */
export interface StageName {
  readonly application: string
  readonly pipeline: string
  readonly stage: string
}

/** Something that is declared for a stage; what is absent fits any. */
export interface StageRule {
  readonly application?: string | undefined
  readonly pipeline?: string | undefined
  readonly stage?: string | undefined
}

/** The rule that fits a stage best: the one that names the most of it, of equals the first. */
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
 * The gate of a stage: a gate's stage is its own name where it says nothing else. What an operator has declared goes before what the form of
 * the stage says, however little it names: whoever edits a pipeline must not get around it.
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

/** What the stage of a gate is for. */
export function typeOf({ type = 'approval' }: Pick<Gate, 'type'>): StageType {
  return type
}

/** Finds the gate of a stage. There may be one for each stage of each pipeline. */
export const findGateOfStage: ReadOperation<
  { readonly stage: StageName; readonly type: StageType },
  Gate | undefined
> = {
  name: 'gates.of-stage',
  apply: async ({ gates }, { stage, type }) => findStageGate(await gates.listGates(), stage, type),
}

/** How many members a rule names, or undefined when one of them is another. Applications have no case (Front50). */
function fit(rule: StageRule, wanted: StageName): number | undefined {
  if (rule.application !== undefined && rule.application.toLowerCase() !== wanted.application.toLowerCase())
    return undefined
  if (rule.pipeline !== undefined && rule.pipeline !== wanted.pipeline) return undefined
  if (rule.stage !== undefined && rule.stage !== wanted.stage) return undefined
  return [rule.application, rule.pipeline, rule.stage].filter((member) => member !== undefined).length
}
