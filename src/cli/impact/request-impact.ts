import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../../errors/app-error.js'
import { inputCases } from '../../impact/cases.js'
import type { ImpactRequest } from '../../impact/impact-request.js'
import { ImpactResult } from '../../impact/impact-result.js'
import type { RevisionView } from '../../impact/impact-result.js'
import { runImpact } from '../../impact/run-impact.js'
import { ShadowView } from '../../impact/shadow-view.js'
import { loadSnapshot, type Snapshot } from '../../rego/index.js'
import { findPolicies, loadOptions } from '../input/open-policies.js'
import { Progress } from '../output/progress.js'
import { count } from '../output/text-table.js'
import type { ServiceClient, ServiceRequest } from '../session/service-client.js'
import type { PolicyOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { refuseAbsent } from './read-policies.js'

const Run = z.object({
  impactId: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  progress: z.object({ phase: z.string(), seen: z.int(), flips: z.int() }),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      errors: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          location: z.object({ file: z.string(), row: z.int(), col: z.int() }).optional(),
        }),
      ),
    })
    .optional(),
  result: ImpactResult.optional(),
})

const POLL_MS = 500

/**
 * Runs a comparison at the service and waits for it. Raises the error of a failed one, with the
 * locations of problems below `paths`, the sent directories.
 */
export async function requestImpact(
  client: ServiceClient,
  sent: Pick<ServiceRequest, 'query' | 'body' | 'archive'>,
  paths: readonly string[],
  terminal: Terminal,
): Promise<ImpactResult> {
  const progress = new Progress(terminal)
  let run = await client.request(Run, { method: 'POST', path: '/policies/impact', ...sent })
  while (run.state === 'running') {
    const { phase, seen, flips } = run.progress
    progress.show(
      phase === 'compiling'
        ? 'compiling policies …'
        : `compared ${count(seen, 'input')}, ${count(flips, 'flip')} …`,
    )
    await setTimeout(POLL_MS)
    run = await client.request(Run, { path: `/policies/impact/${run.impactId}` })
  }
  progress.end()
  if (run.result !== undefined) return run.result
  const { code, message, errors } = run.error ?? { code: undefined, message: 'it has no result', errors: [] }
  const details = errors.map(({ location, ...detail }) => ({
    ...detail,
    ...(location && { location: { ...location, file: sourceOf(location.file, paths) } }),
  }))
  throw new AppError('invalid', message, { ...(code !== undefined && { code }), details })
}

/** Returns what the shadow of a service found so far. Raises `unavailable` if it does not run. */
export async function readShadow(client: ServiceClient): Promise<ImpactResult> {
  const { state, result, error } = await client.request(ShadowView, { path: '/policies/shadow' })
  if (result !== undefined) return result
  const why = state === 'failed' ? (error ?? 'it failed') : 'its policies are being compiled; retry later'
  throw new AppError('unavailable', `the shadow does not run: ${why}`)
}

/** Returns the path of a file as the service names it: below the only directory, or a numbered one. */
function sourceOf(file: string, paths: readonly string[]): string {
  const [, index = '0', below = file] = /^(\d+)\/policies\/(.*)$/.exec(file) ?? []
  const root = paths[Number(index)]
  return root === undefined || root.endsWith('.rego') ? file : join(root, below)
}

/** Paths of policies to compare, and the name of each set. */
interface LocalPolicies {
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
