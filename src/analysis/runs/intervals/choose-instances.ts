import { compareStrings } from '../../../lib/text/compare-strings.js'
import { redactWords } from '../../../lib/redaction/redact-text.js'
import { INSTANCE_SEPARATOR } from '../../sources.js'
import type { FetchBudget, Instance, InstanceSource, Scope, TimeWindow } from '../../sources.js'
import type { PlannedInstances, PlannedSide, PlannedSides } from '../definitions/plan.js'

/** The compared instances of both sides, and sentences about those that are missing. */
export interface ChosenInstances {
  /** The name of the scope value, and the label that names an instance. */
  readonly label: string
  readonly baseline: readonly string[]
  readonly canary: readonly string[]
  readonly problems: readonly string[]
}

/** The compared instances of a target, for its metrics and its log. */
export interface TargetInstances {
  readonly metrics?: ChosenInstances | undefined
  readonly logs?: ChosenInstances | undefined
}

/** What the choice depends on besides the sides. */
export interface ChoiceContext {
  readonly planned: PlannedInstances
  readonly stepMs: number
  /** Undefined if the configuration has none of the planned name. */
  readonly source: InstanceSource | undefined
  readonly remaining: () => FetchBudget
  readonly windowOf: (side: PlannedSide) => TimeWindow
}

/** Steps of a window at which instances are looked for. */
const STEPS = 200
/** How late an instance may be seen first, and how early last, as a share of the window. */
const TOLERANCE = 0.05
/** Maximum number of instances of a side, so that queries stay short. */
const MAX_INSTANCES = 100
const SHOWN = 10

/**
 * Chooses the instances of a side's scope that are compared. Those of the canary are all that ran
 * in the window. Those of the baseline ran over the whole window and are as many as of the canary,
 * or as configured: the newest or the oldest by their values, which are times of starts. Equal ones
 * are chosen by name, so that later intervals choose alike. Never rejects.
 */
export async function chooseInstances(
  { baseline, canary }: PlannedSides,
  context: ChoiceContext,
): Promise<ChosenInstances> {
  const { label, source: sourceName, size, choose } = context.planned
  const { source } = context
  if (source === undefined) {
    const problem = `analysis.sources has no source ${sourceName} of instances (type prometheus or loki)`
    return { label, baseline: [], canary: [], problems: [problem] }
  }
  const [before, now] = await Promise.all([
    fetchSide(baseline, source, context),
    fetchSide(canary, source, context),
  ])
  const lost = [
    ...('problem' in before ? [`instances of the baseline: ${before.problem}`] : []),
    ...('problem' in now ? [`instances of the canary: ${now.problem}`] : []),
  ].map(redactWords)
  if ('problem' in before || 'problem' in now) return { label, baseline: [], canary: [], problems: lost }
  const isOneGroup = sameScope(baseline.scope, canary.scope)
  const ofCanary = namesOf(now.instances).slice(0, MAX_INSTANCES)
  const others = before.instances.filter(({ name }) => isOneGroup || !ofCanary.includes(name))
  const whole = others.filter((instance) => ranThrough(instance, before.window, before.stepMs))
  const sign = choose === 'newest' ? -1 : 1
  const needed = size ?? ofCanary.length
  const chosen = whole
    .toSorted((a, b) => sign * (a.value - b.value) || compareStrings(a.name, b.name))
    .slice(0, needed)
  return {
    ...{ label, baseline: namesOf(chosen), canary: ofCanary },
    problems: [
      ...(ofCanary.length === 0 ? ['no instance of the canary ran in the window'] : []),
      ...(chosen.length < needed ? [tooFew(chosen, others, needed)] : []),
    ],
  }
}

type Side =
  | { readonly problem: string }
  | { readonly instances: readonly Instance[]; readonly window: TimeWindow; readonly stepMs: number }

async function fetchSide(
  side: PlannedSide,
  source: InstanceSource,
  { planned: { query, label }, stepMs, remaining, windowOf }: ChoiceContext,
): Promise<Side> {
  const window = windowOf(side)
  const longer = Math.max(stepMs, Math.ceil((window.endMs - window.startMs) / STEPS))
  const request = { query, label, scope: side.scope, stepMs: longer, ...window }
  const answer = await source.fetchInstances(request, remaining())
  return 'problem' in answer ? answer : { ...answer, window, stepMs: longer }
}

function ranThrough({ firstMs, lastMs }: Instance, { startMs, endMs }: TimeWindow, stepMs: number): boolean {
  const toleranceMs = Math.max(stepMs, TOLERANCE * (endMs - startMs))
  return firstMs <= startMs + toleranceMs && lastMs >= endMs - toleranceMs
}

function tooFew(chosen: readonly Instance[], found: readonly Instance[], needed: number): string {
  const short = found.filter((instance) => !chosen.includes(instance))
  const names = namesOf(short).slice(0, SHOWN).join(', ')
  const rest = short.length === 0 ? '' : `; not over all of it: ${names}${short.length > SHOWN ? ', …' : ''}`
  return `${chosen.length} ${chosen.length === 1 ? 'instance' : 'instances'} of the baseline ran over the whole window, and ${needed} are needed${rest}`
}

function namesOf(instances: readonly Instance[]): string[] {
  return instances.map(({ name }) => name).toSorted(compareStrings)
}

function sameScope(one: Scope, other: Scope): boolean {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => one[name] === other[name])
}

/**
 * The sides with the chosen instances in their scopes. A side without any has no such value, so its
 * queries fail.
 */
export function withInstances<Sides extends PlannedSides>(
  sides: Sides,
  chosen: ChosenInstances | undefined,
): Sides {
  if (chosen === undefined) return sides
  const side = (name: 'baseline' | 'canary'): PlannedSide => {
    const named = Object.entries(sides[name].scope).filter(([variable]) => variable !== chosen.label)
    if (chosen[name].length > 0) named.push([chosen.label, chosen[name].join(INSTANCE_SEPARATOR)])
    return { ...sides[name], scope: Object.fromEntries(named) }
  }
  return { ...sides, baseline: side('baseline'), canary: side('canary') }
}
