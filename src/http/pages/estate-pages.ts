import { html } from 'hono/html'

import type { DeliveryMetrics, DeliveryReport } from '../../events/delivery-metrics.js'
import type { RegistryEntry, RegistryVersion } from '../../store/ports/registry-store.js'
import { formatNumber } from '../analysis-report/format-number.js'
import { badge } from '../analysis-report/tone.js'
import { jsonTree } from './json-tree.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { filterForm, pager, table } from './lists.js'
import { empty, facts, link, moment } from './parts.js'

const PATH = '/ui/estate'

/** What the static policies say of a definition. */
export interface DefinitionVerdict {
  /** Reasons against it; empty if it is allowed. */
  readonly denials: readonly string[]
  /** Why it could not be evaluated. */
  readonly problem: string | undefined
}

/** A pipeline with its verdict; undefined without static policies. */
export interface ShownPipeline {
  readonly entry: RegistryEntry
  readonly verdict: DefinitionVerdict | undefined
}

export interface ShownEstate {
  readonly application: string
  readonly name: string
  readonly pipelines: readonly ShownPipeline[]
  readonly cursor: string | undefined
  readonly nextCursor: string | undefined
}

/** Renders the pipelines of the orchestrator, each with its verdict by the static policies. */
export function estatePage(shown: ShownEstate, viewer: Viewer): PageContent {
  const { application, name, pipelines, cursor, nextCursor } = shown
  const { prefix } = viewer
  const isFiltered = application !== '' || name !== '' || cursor !== undefined
  const how = html`Set <code>orchestrator.storageUrl</code>, or let the orchestrator send its events.`
  const body = html`<h1>Estate</h1>
    <p>${link(prefix, `${PATH}/dora`, 'DORA metrics')}</p>
    ${filterForm(
      PATH,
      [
        { name: 'application', label: 'Application', value: application },
        { name: 'name', label: 'Pipeline', value: name },
      ],
      viewer,
    )}
    ${
      pipelines.length > 0
        ? pipelineTable(pipelines, viewer)
        : isFiltered
          ? empty('No matching pipelines.', link(prefix, PATH, 'Show all'))
          : empty('No pipeline is known.', how)
    }
    ${pager({ path: PATH, query: { application, name }, cursor, nextCursor }, viewer)}`
  return { title: 'Estate', body, section: PATH }
}

function pipelineTable(pipelines: readonly ShownPipeline[], { prefix }: Viewer): Html {
  return table(pipelines, [
    {
      head: 'pipeline',
      cell: ({ entry: { id, name } }) => link(prefix, `${PATH}/pipelines/${id}`, name),
      isPlain: true,
    },
    {
      head: 'application',
      cell: ({ entry: { application } }) =>
        link(prefix, `${PATH}?application=${encodeURIComponent(application)}`, application),
    },
    { head: 'policies', cell: ({ verdict }) => verdictLine(verdict), isPlain: true },
    { head: 'version', cell: ({ entry: { version } }) => version },
    {
      head: 'changed',
      cell: ({ entry: { changedMs, changedBy } }) =>
        html`${moment(changedMs)}
          <span class="soft">${changedBy === undefined ? '' : `by ${changedBy}`}</span>`,
    },
  ])
}

function verdictLine(verdict: DefinitionVerdict | undefined): Html {
  if (verdict === undefined) return html`<span class="soft">no static policy</span>`
  const { denials, problem } = verdict
  if (problem !== undefined) return html`${badge('error', 'bad')} <span class="soft">${problem}</span>`
  if (denials.length === 0) return badge('allow', 'good')
  return html`${badge('deny', 'bad')}
    <span class="quote">${denials[0]}</span>
    ${denials.length > 1 ? html`<span class="soft">and ${denials.length - 1} more</span>` : ''}`
}

export interface ShownPipelineDetails extends ShownPipeline {
  /** Newest first. */
  readonly versions: readonly RegistryVersion[]
}

/** Renders a pipeline with its verdict, versions and definition. */
export function pipelinePage(
  { entry, verdict, versions }: ShownPipelineDetails,
  viewer: Viewer,
): PageContent {
  const { id, name, application, pipelineId, version, changedMs, changedBy } = entry
  const [newest] = versions
  const body = html`<h1>Pipeline ${name}</h1>
    ${facts([
      [
        'application',
        link(viewer.prefix, `${PATH}?application=${encodeURIComponent(application)}`, application),
      ],
      ['id', pipelineId],
      ['version', version],
      ['changed', moment(changedMs)],
      ['by', changedBy],
    ])}
    <h2>What the static policies say</h2>
    ${
      verdict === undefined || verdict.problem !== undefined || verdict.denials.length === 0
        ? verdictLine(verdict)
        : html`${badge('deny', 'bad')}
            <ul>
              ${verdict.denials.map((denial) => html`<li class="quote">${denial}</li>`)}
            </ul>`
    }
    <p>${link(viewer.prefix, `/ui/playground?pipeline=${id}`, 'Try a policy in the playground')}</p>
    <h2>Versions</h2>
    ${table(versions, [
      { head: 'version', cell: ({ version: number }) => number },
      { head: 'changed', cell: ({ changedMs: atMs }) => moment(atMs) },
      { head: 'by', cell: ({ changedBy: who = '' }) => who },
      { head: 'known from', cell: ({ source }) => source },
      {
        head: 'record',
        cell: ({ seq }) => (seq === undefined ? '' : link(viewer.prefix, `/ui/trail/${seq}`, String(seq))),
      },
    ])}
    <h2>Definition</h2>
    ${newest?.definition === undefined ? empty('The pipeline was deleted.') : jsonTree(JSON.parse(newest.definition))}`
  return { title: `Pipeline ${name}`, body, section: PATH }
}

const HOUR_MS = 3_600_000

/** Renders the four delivery metrics, known as DORA metrics, of the last `days` days. */
export function doraPage(report: DeliveryReport, days: number): PageContent {
  const { applications, total } = report
  const body = html`<h1>DORA metrics</h1>
    <p class="soft">The last ${days} days, from the runs of deploying pipelines in the trail.</p>
    ${facts([
      ['deployments', total.deployments],
      ['deployments a day', formatNumber(total.deploymentsPerDay)],
      ['change failure rate', share(total)],
      ['lead time', hours(total.leadTime)],
      ['time to restore', hours(total.timeToRestore)],
    ])}
    <h2>By application</h2>
    ${
      applications.length === 0
        ? empty(
            'No deployment was recorded.',
            'Configure the orchestrator to send its events to POST /platform/echo.',
          )
        : table(applications, [
            { head: 'application', cell: ({ application }) => application, isPlain: true },
            { head: 'deployments', cell: ({ deployments }) => deployments, isNumber: true },
            {
              head: 'a day',
              cell: ({ deploymentsPerDay }) => formatNumber(deploymentsPerDay),
              isNumber: true,
            },
            { head: 'change failure rate', cell: share, isNumber: true },
            { head: 'lead time', cell: ({ leadTime }) => hours(leadTime), isNumber: true },
            { head: 'time to restore', cell: ({ timeToRestore }) => hours(timeToRestore), isNumber: true },
          ])
    }`
  return { title: 'DORA metrics', body, section: PATH }
}

function share({ changeFailureRate }: DeliveryMetrics): string {
  return changeFailureRate === null ? '–' : `${formatNumber(changeFailureRate * 100)} %`
}

/** The median in hours. */
function hours(durations: DeliveryMetrics['leadTime']): string {
  return durations === null ? '–' : `${formatNumber(durations.medianMs / HOUR_MS)} h`
}
