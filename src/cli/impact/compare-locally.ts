import type { ImpactRequest } from '../../impact/impact-request.js'
import type { ImpactResult, RevisionView } from '../../impact/impact-result.js'
import { inputCases } from '../../impact/cases.js'
import { runImpact } from '../../impact/run-impact.js'
import { loadSnapshot, type Snapshot } from '../../rego/index.js'
import { findPolicies, loadOptions } from '../input/open-policies.js'
import { Progress } from '../output/progress.js'
import { count } from '../output/text-table.js'
import type { PolicyOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { refuseAbsent } from './read-policies.js'

/** Paths of policies to compare, and the name of each set. */
export interface LocalPolicies {
  readonly name: string
  readonly paths: readonly string[]
}

/**
 * Compares two sets of policies over inputs without a service. Raises `invalid` for policies that
 * do not compile.
 */
export async function compareLocally(
  { candidate, against }: { readonly candidate: LocalPolicies; readonly against: LocalPolicies },
  inputs: ImpactRequest['inputs'],
  options: Pick<PolicyOptions, 'config'>,
  terminal: Terminal,
): Promise<ImpactResult> {
  const after = await load(candidate, options, terminal)
  const before = await load(against, options, terminal)
  const { staticPackages, strictBuiltinErrors, levels } = after.settings
  const progress = new Progress(terminal)
  const cases = inputCases(inputs, Date.now())
  const { tally, isPartial, notes } = await runImpact(cases, {
    ...{ before: before.snapshot, after: after.snapshot, maxCases: cases.length },
    settings: { staticPackages, strictBuiltinErrors, levels, exceptions: [] },
    isOver: () => false,
    progress: ({ seen }) => progress.show(`compared ${count(seen, 'input')} …`),
  })
  progress.end()
  return tally.result({ candidate: after.view, against: before.view, isPartial, notes })
}

async function load(
  { name, paths }: LocalPolicies,
  { config: file }: Pick<PolicyOptions, 'config'>,
  terminal: Terminal,
): Promise<{ readonly snapshot: Snapshot; readonly view: RevisionView; readonly settings: Settings }> {
  refuseAbsent(paths)
  const { config, directories } = findPolicies(
    { ...(file !== undefined && { config: file }), bundle: paths },
    terminal,
  )
  const locations = { directories, bundles: config.policies.bundles }
  const work = loadSnapshot(locations, { ...loadOptions(config, terminal), warnsOfRefusedBuiltins: true })
  const snapshot = await new Progress(terminal).during(`compiling ${name} …`, work)
  const warnings = snapshot.warnings.map(({ code, message }) => ({ code, message }))
  return { snapshot, settings: config.policies, view: { name, revision: snapshot.revision, warnings } }
}

type Settings = ReturnType<typeof findPolicies>['config']['policies']
