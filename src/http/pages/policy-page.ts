import { html } from 'hono/html'

import type { SourceText } from '../../rego/index.js'
import type { DecisionView } from '../../decisions/decision-view.js'
import { badge } from '../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { clock, facts, shownValue, toneOfState } from './parts.js'

export interface ShownPolicy {
  /** Requested package or rule, under `data`. */
  readonly path: string
  /** Package name in Rego. */
  readonly packageName: string
  readonly revision: string
  readonly sources: readonly SourceText[]
  /** Undefined if decisions are not stored. */
  readonly decisions: ListedDecisions | undefined
}

/** Renders a policy with its source and latest decisions. */
export function policyPage(shown: ShownPolicy, viewer: Viewer): PageContent {
  const { path, packageName, revision, sources, decisions } = shown
  const body = html`<h1>Policy ${path}</h1>
    ${facts([
      ['package', packageName],
      ['revision', revision],
    ])}
    <h2>Latest decisions</h2>
    ${
      decisions === undefined
        ? html`<p class="none">The decision log is disabled.</p>`
        : html`<p class="soft">
              Decisions requested at this path, and denials by the package ${packageName}. A decision over
              several packages, such as saving a pipeline, is listed here only if this package denied it.
            </p>
            ${decisionTable(decisions, viewer.prefix, `tidegate decisions list --package '${packageName}'`)}`
    }
    <h2>Source</h2>
    ${sources.length === 0 ? html`<p class="none">The bundle does not include Rego sources.</p>` : sources.map(sourceBlock)}`
  return { title: `Policy ${path}`, body }
}

function sourceBlock({ file, text }: SourceText): Html {
  return html`<h3>${file}</h3>
    <pre>${text}</pre>`
}

/** The newest decisions of a list, and whether the log has more. */
export interface ListedDecisions {
  readonly decisions: readonly DecisionView[]
  readonly hasMore: boolean
}

/**
 * Renders decisions with their results. If the log has more, it names the command that lists them.
 */
export function decisionTable(
  { decisions, hasMore }: ListedDecisions,
  prefix: string,
  listAll: string,
): Html {
  if (decisions.length === 0) return html`<p class="none">No decisions yet.</p>`
  return html`<div class="wide">
      <table class="stacked">
        <tr>
          <th>when</th>
          <th>policy</th>
          <th>outcome</th>
          <th>result</th>
        </tr>
        ${decisions.map(
          (decision) =>
            html`<tr>
              <td>${clock(Date.parse(decision.time))}</td>
              <td>${pathOf(decision, prefix)}</td>
              <td>${badge(decision.outcome, toneOfState(decision.outcome))}</td>
              <td class="quote">${answerOf(decision)}</td>
            </tr>`,
        )}
      </table>
    </div>
    ${hasMore ? html`<p class="soft">Showing the newest ${decisions.length}. List all: <code>${listAll}</code></p>` : ''}`
}

/** Links to the policy. A static verdict has no policy of its own. */
function pathOf({ kind, path }: DecisionView, prefix: string): Html {
  const name = html`<code>${path}</code>`
  return kind === 'static' ? name : html`<a href="${prefix}/ui/policies/${linkPath(path)}">${name}</a>`
}

/** Escapes each segment, so that a path cannot lead elsewhere. */
export function linkPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function answerOf({ error, result, resultPrefix }: DecisionView): string {
  if (error !== undefined) return error
  const text = result?.text ?? resultPrefix
  if (text === undefined) return ''
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.map(shownValue).join('\n') : shownValue(value)
  } catch {
    return shownValue(text)
  }
}
