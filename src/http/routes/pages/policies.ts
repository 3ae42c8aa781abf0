import { queryDecisions } from '../../../decisions/query-decisions.js'
import { AppError } from '../../../errors/app-error.js'
import {
  packageLength,
  parseDataPath,
  pathKey,
  printPackageName,
  type Snapshot,
} from '../../../rego/index.js'
import { policyPage } from '../../pages/policy-page.js'
import type { ListedDecisions } from '../../pages/decision-table.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const MAX_DECISIONS = 20

/** The page of a policy, at this service's path and at the orchestrator's link. */
export const policyPageRoutes = [policyRoute('/ui/policies'), policyRoute('/ui/plugin-isd/policy')]

function policyRoute(base: string): Route<PageRoutesDeps> {
  return routesOf<PageRoutesDeps>().route({
    ...PAGE,
    method: 'GET',
    path: `${base}/*`,
    roles: ['approver', 'auditor'],
    summary: 'A policy with its source and latest decisions, as a page',
    answer: async ({ exchange }, deps) => {
      const path = parseDataPath(exchange.target.path.slice(base.length))
      const { current } = deps.policies
      const found = packageAbove(current, path)
      if (found === undefined) throw noPolicy(path)
      const packageName = printPackageName(found)
      const shown = {
        path: path.join('/'),
        packageName,
        revision: current.revision,
        sources: current.sourcesOf(pathKey(found)),
        decisions: await decisionsOf(pathKey(path), packageName, deps),
      }
      return showPage(policyPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  })
}

/** Returns the package of a path, which may name a rule. */
function packageAbove(snapshot: Snapshot, path: readonly string[]): readonly string[] | undefined {
  const length = packageLength(snapshot, path)
  return length === 0 ? undefined : path.slice(0, length)
}

/** Returns the newest decisions at or below a path, and denials by a package. */
async function decisionsOf(
  path: string,
  packageName: string,
  { decisions }: PageRoutesDeps,
): Promise<ListedDecisions | undefined> {
  if (decisions === undefined) return undefined
  const filters = [{ path }, { path: `${path}/` }, { package: packageName }]
  const pages = await Promise.all(
    filters.map((filter) => queryDecisions(decisions, { ...filter, limit: MAX_DECISIONS })),
  )
  const all = new Map(pages.flatMap((page) => page.decisions.map((each) => [each.decisionId, each])))
  const newest = [...all.values()].sort((one, other) => (one.time < other.time ? 1 : -1))
  return {
    decisions: newest.slice(0, MAX_DECISIONS),
    hasMore: newest.length > MAX_DECISIONS || pages.some(({ nextCursor }) => nextCursor !== undefined),
  }
}

function noPolicy(path: readonly string[]): AppError {
  return new AppError('not_found', `no loaded policy is at ${path.join('/') || 'this path'}`)
}
