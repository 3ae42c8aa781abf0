import { html } from 'hono/html'

import { SECTIONS, tokenField } from './layout.js'
import type { PageContent, Viewer } from './layout.js'
import type { ListedSession } from '../../store/ports/browser-sessions.js'
import type { Html } from './layout.js'
import { table } from './lists.js'
import { facts, moment } from './parts.js'

const WHAT: Readonly<Record<string, string>> = {
  approver: 'decides approvals',
  auditor: 'reads decisions, the trail and the state of the service',
  author: 'tries policies and compares them with those in service',
  orchestrator: 'requests decisions and triggers gates',
  admin: 'may do everything',
}

export interface ShownAccount {
  readonly groups: readonly string[]
  /** Sessions of the viewer; of everybody for an admin. */
  readonly sessions: readonly (ListedSession & { readonly id: string; readonly isCurrent: boolean })[]
  readonly nowMs: number
}

/** Renders who is signed in, with which roles and groups. */
export function accountPage(
  { groups, sessions, nowMs }: ShownAccount,
  viewer: Viewer & { readonly isAnonymous: boolean },
): PageContent {
  const { name, roles, prefix, isAnonymous } = viewer
  const open = SECTIONS.filter((section) => section.roles.some((role) => roles.includes(role)))
  const body = html`<h1>Account</h1>
    ${
      isAnonymous
        ? html`<p>
            This service requires no sign-in: everyone who reaches it may do everything. Configure
            <code>auth.tokens</code> to change that.
          </p>`
        : facts([
            ['name', name],
            ['roles', roles.map((role) => `${role}: ${WHAT[role] ?? ''}`).join('\n')],
            ['groups', groups.length === 0 ? 'none' : groups.join(', ')],
          ])
    }
    <h2>Pages you can open</h2>
    <ul>
      ${open.map(({ path, label }) => html`<li><a href="${prefix}${path}">${label}</a></li>`)}
    </ul>
    ${
      isAnonymous
        ? ''
        : html`<h2>Sessions</h2>
            ${sessionTable(sessions, nowMs, viewer)}
            <p class="soft">A session ends after two hours without a request, and after twelve hours.</p>
            <form method="post" action="${prefix}/ui/sign-out">
              ${tokenField(viewer)}
              <button>Sign out</button>
            </form>`
    }`
  return { title: 'Account', body, section: '/ui/account' }
}

function sessionTable(sessions: ShownAccount['sessions'], nowMs: number, viewer: Viewer): Html {
  if (sessions.length === 0) return html`<p class="none">No browser is signed in.</p>`
  return html`${table(sessions, [
    { head: 'who', cell: ({ tokenName }) => tokenName },
    { head: 'signed in', cell: ({ ageMs }) => moment(nowMs - ageMs) },
    { head: 'last used', cell: ({ idleMs }) => moment(nowMs - idleMs) },
    {
      head: 'end',
      cell: ({ id, isCurrent }) =>
        isCurrent
          ? 'this browser'
          : html`<form method="post" action="${viewer.prefix}/ui/account/sessions/${id}/revoke">
              ${tokenField(viewer)}<button>Revoke</button>
            </form>`,
    },
  ])}`
}
