import { html } from 'hono/html'

import type { DecisionView } from '../../decisions/decision-view.js'
import type { SourceText } from '../../pdp/snapshot/snapshot.js'
import { decisionTable } from './decision-table.js'
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
  readonly decisions: readonly DecisionView[] | undefined
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
    ${decisions === undefined ? html`<p class="none">Decisions are not kept.</p>` : decisionTable(decisions, viewer.prefix)}
    <h2>Source</h2>
    ${sources.length === 0 ? html`<p class="none">The bundle leaves its Rego out.</p>` : sources.map(sourceBlock)}`
  return { title: `Policy ${path}`, body }
}

function sourceBlock({ file, text }: SourceText): Html {
  return html`<h3>${file}</h3>
    <pre>${text}</pre>`
}
