import { html } from 'hono/html'

import type { SourceText } from '../../rego/index.js'
import { decisionTable } from './decision-table.js'
import type { ListedDecisions } from './decision-table.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { facts } from './parts.js'

export interface ShownPolicy {
  /** What was asked for: a package or a rule, below `data`. */
  readonly path: string
  /** The package as Rego writes it. */
  readonly packageName: string
  readonly revision: string
  readonly sources: readonly SourceText[]
  /** Undefined where decisions are not kept. */
  readonly decisions: ListedDecisions | undefined
}

/** A policy: what it says, and what it has decided lately. */
export function policyPage(shown: ShownPolicy, viewer: Viewer): PageContent {
  const { path, packageName, revision, sources, decisions } = shown
  const body = html`<h1>Policy ${path}</h1>
    ${facts([
      ['package', packageName],
      ['revision', revision],
    ])}
    <h2>Last decisions</h2>
    ${
      decisions === undefined
        ? html`<p class="none">Decisions are not kept.</p>`
        : html`<p class="soft">
              Decisions requested at this path, and denials by the package ${packageName}. A decision over
              several packages, such as saving a pipeline, is listed here only if this package denied it.
            </p>
            ${decisionTable(decisions, viewer.prefix, `tidegate decisions list --package '${packageName}'`)}`
    }
    <h2>Source</h2>
    ${sources.length === 0 ? html`<p class="none">The bundle leaves its Rego out.</p>` : sources.map(sourceBlock)}`
  return { title: `Policy ${path}`, body }
}

function sourceBlock({ file, text }: SourceText): Html {
  return html`<h3>${file}</h3>
    <pre>${text}</pre>`
}
