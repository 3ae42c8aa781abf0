import { z } from 'zod'

import { queryDecisionsAbout } from '../../../decisions/query-decisions.js'
import { countRefusals } from '../../../decisions/refusals.js'
import type { PackageRefusals } from '../../../decisions/refusals.js'
import { AppError } from '../../../errors/app-error.js'
import { hasRole } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import {
  packageLength,
  parseDataPath,
  pathKey,
  pathOfKey,
  printPackageName,
  publicNames,
  type Snapshot,
} from '../../../rego/index.js'
import { actorOf } from '../../exchange/caller-of.js'
import { formBody } from '../../input/form-body.js'
import { goTo } from '../../pages/answer-page.js'
import { POLICY_READERS } from '../../pages/layout.js'
import { policiesPage, policyPage } from '../../pages/policy-pages.js'
import type { ShownPolicy } from '../../pages/policy-pages.js'
import type { PolicyResult } from '../../pages/policy-tests.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { DEFAULT_DECISIONS, coverPackage, runPackageTests } from '../policies/package-tests.js'
import { FORM, PAGE, problemOf, showPage, viewerOf } from './page-route.js'
import { endStagePage, STAGE_PATH } from '../../pages/stage-section.js'
import type { ShownStage } from '../../pages/stage-section.js'
import type { PageRoutesDeps } from './page-route.js'

const MAX_DECISIONS = 20
const NS_PER_MS = 1e6
const MAX_LISTED = 50
const MAX_WARNINGS = 50
const MAX_SEARCH = 200
const MAX_REVISION = 1000
const DAY_MS = 86_400_000
/** Days of a trend. */
const DAYS = 14
const { route } = routesOf<PageRoutesDeps>()

/** The list of policies, and the page of one policy, which the orchestrator's link also shows. */
export const policyPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui/policies',
    roles: POLICY_READERS,
    summary: 'The loaded policies with their refusals, as a page',
    query: z.looseObject({
      search: z.string().trim().max(MAX_SEARCH).default(''),
      cursor: z.string().optional().describe('Name of the last package of the previous page.'),
    }),
    answer: async ({ exchange, query: { search, cursor } }, deps) => {
      const { current, activatedAt } = deps.policies
      const matching = namesIn(current, search)
      const start = cursor === undefined ? 0 : matching.filter(({ name }) => name <= cursor).length
      const listed = matching.slice(start, start + MAX_LISTED)
      const refusals = await refusalsOf(
        listed.map(({ name }) => name),
        deps,
      )
      const last = listed.at(-1)
      const shown = {
        ...{ search, cursor, total: matching.length, days: DAYS },
        packages: listed.map((each, index) => ({ ...each, refusals: refusals?.[index] })),
        nextCursor: start + MAX_LISTED < matching.length ? last?.name : undefined,
        revision: current.revision,
        activatedMs: activatedAt.getTime(),
        stage: shownStage(deps),
        ...problemsOf(deps),
      }
      return showPage(policiesPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: STAGE_PATH,
    roles: ['admin'],
    summary: 'End the stage of the staged revision, from its form',
    body: formBody(
      z.object({
        action: z.enum(['promote', 'abandon', 'keep']),
        revision: z.string().min(1).max(MAX_REVISION),
        confirm: z.literal('yes').optional(),
      }),
    ),
    answer: async ({ exchange, body: { action, revision, confirm } }, deps) => {
      const { staged } = deps.policies
      if (action !== 'keep') {
        const stage = shownStage(deps)
        if (stage?.revision !== revision)
          throw new AppError('conflict', `revision ${revision} is no longer staged: reload the page`)
        if (confirm === undefined)
          return showPage(endStagePage(stage, action, viewerOf(exchange, deps)), exchange, deps)
        const actor = actorOf(exchange, deps.gates)
        const reason = `requested by ${actor.user ?? actor.origin}`
        await deps.control.endStage({ isPromoted: action === 'promote', reason }, actor, staged?.snapshot)
      }
      return goTo(`${deps.page.prefix}/ui/policies`)
    },
  }),
  policyRoute('/ui/policies'),
  policyRoute('/ui/plugin-isd/policy'),
  route({
    ...FORM,
    path: '/ui/policies/*',
    roles: ['author', 'auditor'],
    summary: 'Run the tests of a policy, or measure its coverage, from its page',
    body: formBody(z.object({ action: z.enum(['tests', 'coverage']) })),
    answers: PAGE.answers,
    answer: async ({ exchange, body: { action } }, deps) => {
      const path = parseDataPath(exchange.target.path.slice('/ui/policies'.length))
      const { result, status } = await resultOf(action, packageOf(deps, path).name, exchange, deps)
      const shown = await describe(path, deps)
      return showPage(policyPage({ ...shown, result }, viewerOf(exchange, deps)), exchange, deps, { status })
    },
  }),
]

/** The running stage; undefined if there is none. */
export function shownStage({
  policies: { staged },
  stage,
}: Pick<PageRoutesDeps, 'policies' | 'stage'>): ShownStage | undefined {
  if (staged === undefined) return undefined
  const { snapshot, since, sharePercent } = staged
  return {
    ...{ revision: snapshot.revision, sinceMs: since.getTime(), sharePercent },
    ...{ counts: stage.counts(), bounds: stage.bounds(), problem: stage.problem() },
  }
}

async function resultOf(
  action: 'tests' | 'coverage',
  name: string,
  { caller }: Exchange,
  deps: PageRoutesDeps,
): Promise<{ readonly result: PolicyResult; readonly status: number }> {
  try {
    if (action === 'tests')
      return { result: { kind: 'tests', ...(await runPackageTests(name, deps)) }, status: 200 }
    if (!hasRole(caller, 'auditor'))
      throw new AppError('forbidden', 'Coverage by decisions requires the role auditor.')
    return {
      result: { kind: 'coverage', ...(await coverPackage(name, DEFAULT_DECISIONS, deps)) },
      status: 200,
    }
  } catch (raw) {
    return problemOf(raw)
  }
}

function namesIn(
  { packages }: Snapshot,
  search: string,
): readonly { readonly name: string; readonly path: string }[] {
  const wanted = search.toLowerCase()
  return packages
    .map((key) => pathOfKey(key))
    .map((path) => ({ name: printPackageName(path), path: path.join('/') }))
    .filter(({ name, path }) => name.toLowerCase().includes(wanted) || path.toLowerCase().includes(wanted))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the failure of the last reload and the warnings, without paths of the server. */
function problemsOf({ policies: { current, failure, locations, pinned } }: PageRoutesDeps): {
  readonly pinned: string | undefined
  readonly failure: string | undefined
  readonly warnings: readonly string[]
} {
  const names = publicNames(locations.directories, locations.bundles)
  return {
    pinned,
    failure: failure && `failed at ${failure.at.toISOString()}: ${names.text(failure.error.message)}`,
    warnings: current.warnings.slice(0, MAX_WARNINGS).map(({ message, location }) => {
      const where = location === undefined ? '' : `${names.file(location.file)}:${location.row}: `
      return `${where}${names.text(message)}`
    }),
  }
}

async function refusalsOf(
  packages: readonly string[],
  { decisions, gates }: PageRoutesDeps,
): Promise<readonly PackageRefusals[] | undefined> {
  if (decisions === undefined) return undefined
  return await countRefusals(decisions, packages, { toMs: gates.now(), periodMs: DAY_MS, count: DAYS })
}

function policyRoute(base: string): Route<PageRoutesDeps> {
  return route({
    ...PAGE,
    method: 'GET',
    path: `${base}/*`,
    roles: POLICY_READERS,
    summary: 'A policy with its source and latest decisions, as a page',
    answer: async ({ exchange }, deps) => {
      const shown = await describe(parseDataPath(exchange.target.path.slice(base.length)), deps)
      return showPage(policyPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  })
}

/** Describes the policy at a path. Raises `not_found`. */
async function describe(path: readonly string[], deps: PageRoutesDeps): Promise<ShownPolicy> {
  const { current, activatedAt } = deps.policies
  const { key, name } = packageOf(deps, path)
  const about = { path: pathKey(path), packageName: name }
  const [refusals, costs, durationsMs, decisions] = await Promise.all([
    refusalsOf([name], deps),
    deps.costs(),
    durationsOf(about.path, deps),
    deps.decisions && queryDecisionsAbout(deps.decisions, about, { limit: MAX_DECISIONS }),
  ])
  return {
    path: path.join('/'),
    packageName: name,
    revision: current.revision,
    activatedMs: activatedAt.getTime(),
    level: current.declaredLevels.get(key)?.level,
    sources: current.sourcesOf(key),
    refusals: refusals?.[0],
    decisions,
    cost: { measured: costs.get(name), durationsMs },
    result: undefined,
  }
}

/** Decisions whose durations are shown. */
const MAX_DURATIONS = 500

/** Returns the durations of the newest decisions at a path, in milliseconds. */
async function durationsOf(path: string, { decisions }: PageRoutesDeps): Promise<readonly number[]> {
  if (decisions === undefined) return []
  const page = await decisions.store.page(
    { path },
    { rows: MAX_DURATIONS, bytes: Infinity, withInputs: false },
  )
  return page.decisions.map(({ durationNs }) => durationNs / NS_PER_MS)
}

/** Returns the key and the name of the package of a path. Raises `not_found`. */
function packageOf(
  { policies: { current } }: PageRoutesDeps,
  path: readonly string[],
): { readonly key: string; readonly name: string } {
  const found = packageAbove(current, path)
  if (found === undefined) throw noPolicy(path)
  return { key: pathKey(found), name: printPackageName(found) }
}

/** Returns the package of a path, which may name a rule. */
function packageAbove(snapshot: Snapshot, path: readonly string[]): readonly string[] | undefined {
  const length = packageLength(snapshot, path)
  return length === 0 ? undefined : path.slice(0, length)
}

function noPolicy(path: readonly string[]): AppError {
  return new AppError('not_found', `no loaded policy is at ${path.join('/') || 'this path'}`)
}
