import { findRun } from '../../../analysis/runs/analysis-operations.js'
import { pictureOfRun, renderRun } from '../../analysis-report/render-run.js'
import { frameDirective } from '../../pages/answer-page.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import type { PathParameter } from '../../input/path-parameter.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Credential, Route } from '../../pipeline/route.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'

/** The page loads nothing, and its link must not leak through Referer. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

/** Responses of `reportPicture`. */
export const PICTURE = { 200: { description: 'A picture.', types: ['image/png'] } } as const

interface LinkParams {
  readonly id: number
  readonly token: string
}

/** The holder of a link may read this one report. */
export function reportLinkOf<D>(analysisOf: (deps: D) => AnalysisRoutesDeps): Credential<D, LinkParams> {
  return {
    name: 'reportLink',
    check: async ({ params: { id, token } }, deps) => {
      const { reader, reportLinks, now } = analysisOf(deps)
      reportLinks.check(await reader.run(findRun, id), token, now())
    },
  }
}
const PARAMS = {
  id: numberOf('analysis'),
  token: textOf('Token of the report link, from the status of the analysis.'),
}

/**
 * The report and its chart for holders of a link, such as people who follow it from the
 * orchestrator, and chats. Plugins append the name of a service.
 */
export const reportRoutes = [
  reportRoute('/analysis/report/:id/:token'),
  routesOf<AnalysisRoutesDeps>().route({
    method: 'GET',
    path: '/analysis/report/:id/:token/chart.png',
    credential: reportLinkOf((deps: AnalysisRoutesDeps) => deps),
    handler: 'analysis',
    summary: 'Picture of an analysis, for holders of its report link',
    params: PARAMS,
    answers: PICTURE,
    answer: ({ params: { id } }, deps) => reportPicture(deps, id),
  }),
  reportRoute('/analysis/report/:id/:token/:service', {
    service: textOf('Name of a service; the report covers all.'),
  }),
]

function reportRoute(
  path: string,
  more: Readonly<Record<string, PathParameter<string>>> = {},
): Route<AnalysisRoutesDeps> {
  return routesOf<AnalysisRoutesDeps>().route({
    method: 'GET',
    path,
    credential: reportLinkOf((deps: AnalysisRoutesDeps) => deps),
    handler: 'analysis',
    summary: 'Report of an analysis as a page, for holders of its link',
    params: { ...more, ...PARAMS },
    answers: { 200: { description: 'An HTML page.', types: ['text/html'] } },
    answer: ({ params: { id } }, deps) => reportPage(deps, id),
  })
}

/** Returns the report as a page. */
export async function reportPage(
  { reader, frameAncestors }: AnalysisRoutesDeps,
  id: number,
): Promise<Response> {
  const directives = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
  const policy = `${directives}; ${frameDirective({ frameAncestors })}`
  const headers = { ...PAGE_HEADERS, 'Content-Security-Policy': policy }
  return new Response(await reader.run(renderRun, id), { headers })
}

/** Returns the chart as PNG. */
export async function reportPicture({ reader }: AnalysisRoutesDeps, id: number): Promise<Response> {
  const headers = {
    'Content-Type': 'image/png',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  }
  return new Response(new Uint8Array(await reader.run(pictureOfRun, id)), { headers })
}
