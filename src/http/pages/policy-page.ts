import { html } from 'hono/html'

import type { SourceText } from '../../rego/index.js'
import { decisionTable } from './decision-table.js'
import type { ListedDecisions } from './decision-table.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { facts } from './parts.js'

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
            ${decisionTable(decisions, viewer, { package: packageName })}`
    }
    <h2>Source</h2>
    ${sources.length === 0 ? html`<p class="none">The bundle does not include Rego sources.</p>` : sources.map(sourceBlock)}`
  return { title: `Policy ${path}`, body, section: '/ui/policies' }
}

function sourceBlock({ file, text }: SourceText): Html {
  return html`<h3>${file}</h3>
    <pre>${text}</pre>`
}
