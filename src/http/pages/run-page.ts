import { html, raw } from 'hono/html'

import type { RunBody } from '../analysis-report/render-run.js'
import { tokenField } from './layout.js'
import type { PageContent, Viewer } from './layout.js'
import { executionLink, link } from './parts.js'

/** Renders the report of an analysis in the console. A running one can be cancelled. */
export function runPage(
  id: number,
  { application, executionId, state, body }: RunBody,
  viewer: Viewer,
): PageContent {
  const { prefix, roles } = viewer
  const all = `/ui/analyses?application=${encodeURIComponent(application)}`
  const content = html`${raw(body)}
    <div class="row">
      ${link(prefix, all, `All analyses of ${application}`)}
      ${executionId === undefined ? '' : html`<span>Execution ${executionLink(prefix, executionId)}</span>`}
      ${
        state === 'RUNNING' && roles.includes('admin')
          ? html`<form method="post" action="${prefix}/ui/runs/${id}/cancel">
              ${tokenField(viewer)}
              <button class="bad">Cancel this analysis</button>
            </form>`
          : ''
      }
    </div>`
  return { title: `Analysis ${id} of ${application}`, body: content, section: '/ui/analyses' }
}
