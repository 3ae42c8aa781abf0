import { html, raw } from 'hono/html'
import { z } from 'zod'

import { renderComparison, renderRunBody } from '../../analysis-report/render-run.js'
import { PEOPLE, tokenField } from '../../pages/layout.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import type { PathParameter } from '../../input/path-parameter.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { reportLinkOf, reportPage } from '../analysis/reports.js'
import { PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import type { RunBody } from '../../analysis-report/render-run.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { executionLink, link } from '../../pages/parts.js'
import { withQuery } from '../../pages/lists.js'
import { listRuns } from '../../../analysis/runs/analysis-operations.js'
import { JUDGEMENTS } from '../../../store/ports/analysis-store.js'
import type { Judgement } from '../../../store/ports/analysis-store.js'

interface RunParams {
  readonly id: number
}
type MoreParams = Readonly<Record<string, PathParameter<string>>>

const ID = { id: numberOf('analysis') }
const APPLICATION = { application: textOf('The name of the application.') }
const SERVICE = { service: textOf('Number of a service; the report covers all.') }
const TOKEN = { token: textOf('Token of the report link, from the status of the analysis.') }
const LINKED = '/ui/plugin-isd/verification/:application/:id'
const COMPARE_PATH = '/ui/analyses/compare'
const RunNumber = z.coerce.number().int().min(1)
const { route } = routesOf<PageRoutesDeps>()

/** Report pages for signed-in viewers and for holders of a link. */
export const runPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: COMPARE_PATH,
    roles: PEOPLE,
    summary: 'Two analyses compared, as a page',
    query: z.looseObject({
      first: RunNumber.describe('Number of the earlier analysis.'),
      second: RunNumber.describe('Number of the later analysis.'),
    }),
    answer: async ({ exchange, query: { first, second } }, deps) => {
      const rendered = await deps.analysis.reader.run(renderComparison, {
        ...{ first, second, prefix: deps.page.prefix },
      })
      const content = { title: `Analyses ${first} and ${second}`, body: html`${raw(rendered)}` }
      return showPage({ ...content, section: '/ui/analyses' }, exchange, deps)
    },
  }),
  signedIn('/ui/runs/:id', {}),
  signedIn(LINKED, APPLICATION),
  signedIn(`${LINKED}/fromPlugin/:service`, { ...APPLICATION, ...SERVICE }),
  withLink(`${LINKED}/:token`, APPLICATION),
  withLink(`${LINKED}/:token/fromPlugin/:service`, { ...APPLICATION, ...SERVICE }),
]

function signedIn(path: string, more: MoreParams): Route<PageRoutesDeps> {
  return route<RunParams>({
    ...PAGE,
    method: 'GET',
    path,
    roles: PEOPLE,
    summary: 'The report of an analysis, as a page',
    params: { ...more, ...ID },
    answer: async ({ exchange, params: { id } }, deps) => {
      const { reader } = deps.analysis
      const run = await reader.run(renderRunBody, id)
      const { application } = run
      const [before] = await reader.run(listRuns, { application, beforeId: id, limit: 1 })
      const content = runPage({ id, run, beforeId: before?.id }, viewerOf(exchange, deps))
      return showPage(content, exchange, deps)
    },
  })
}

function withLink(path: string, more: MoreParams): Route<PageRoutesDeps> {
  return route<RunParams & { readonly token: string }>({
    ...PAGE,
    method: 'GET',
    path,
    credential: reportLinkOf(({ analysis }: PageRoutesDeps) => analysis),
    summary: 'Report of an analysis as a page, for holders of its link',
    params: { ...more, ...TOKEN, ...ID },
    answer: ({ params: { id } }, { analysis }) => reportPage(analysis, id),
  })
}

interface ShownRunPage {
  readonly id: number
  readonly run: RunBody
  /** The analysis of the same application before this one. */
  readonly beforeId: number | undefined
}

/**
 * Renders the report of an analysis in the console. A running one can be cancelled, and the script
 * of pages keeps it up to date.
 */
function runPage({ id, run, beforeId }: ShownRunPage, viewer: Viewer): PageContent {
  const { application, executionId, state, body, ...judged } = run
  const { prefix, roles } = viewer
  const all = `/ui/analyses?application=${encodeURIComponent(application)}`
  const isRunning = state === 'RUNNING'
  const content = html`<div id="run" ${isRunning ? html`data-refresh="${prefix}/ui/runs/${id}"` : ''}>
    ${raw(body)} ${isRunning ? html`<p class="soft">This page updates by itself.</p>` : ''}
    <div class="row">
      ${link(prefix, all, `All analyses of ${application}`)}
      ${beforeId === undefined ? '' : link(prefix, withQuery(COMPARE_PATH, { first: beforeId, second: id }), `Compare with analysis ${beforeId}`)}
      ${executionId === undefined ? '' : html`<span>Execution ${executionLink(prefix, executionId)}</span>`}
      ${
        isRunning && roles.includes('admin')
          ? html`<form method="post" action="${prefix}/ui/runs/${id}/cancel">
              ${tokenField(viewer)}
              <button class="bad">Cancel this analysis</button>
            </form>`
          : ''
      }
    </div>
    ${state === 'COMPLETED' ? feedbackForm(id, judged, viewer) : ''}
  </div>`
  return { title: `Analysis ${id} of ${application}`, body: content, section: '/ui/analyses' }
}

const JUDGED: Readonly<Record<Judgement, string>> = {
  right: 'right',
  falseAlarm: 'a false alarm',
  missed: 'a missed change',
}

/** Renders the judgement about the verdict, and buttons for those that are possible. */
function feedbackForm(
  id: number,
  { verdict, feedback }: Pick<RunBody, 'verdict' | 'feedback'>,
  viewer: Viewer,
): Html {
  const { prefix, roles } = viewer
  if (verdict === undefined) return html``
  const possible = JUDGEMENTS.filter(
    (judgement) =>
      judgement === 'right' || (judgement === 'missed' ? verdict !== 'Fail' : verdict !== 'Success'),
  )
  const given =
    feedback === undefined
      ? ''
      : html`<p>
          ${feedback.by ?? 'Somebody'} judged this verdict as
          ${JUDGED[feedback.judgement]}${
            feedback.metrics.length === 0 ? '' : `: ${feedback.metrics.join(', ')}`
          }.
          ${feedback.comment === undefined ? '' : html`<q>${feedback.comment}</q>`}
        </p>`
  if (!roles.includes('approver') && !roles.includes('admin')) return html`${given}`
  return html`<h2>Was this verdict right?</h2>
    ${given}
    <form method="post" action="${prefix}/ui/runs/${id}/feedback">
      ${tokenField(viewer)}
      <label for="comment">Comment (optional)</label>
      <input id="comment" name="comment" maxlength="2000" />
      <div class="row">
        ${possible.map(
          (judgement) =>
            html`<button name="judgement" value="${judgement}" class="${judgement === 'right' ? '' : 'bad'}">
              It was ${JUDGED[judgement]}
            </button>`,
        )}
      </div>
    </form>`
}
