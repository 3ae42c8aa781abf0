import type { RouteDescription, RouteList } from '../pipeline/route.js'
import { pathTemplate } from './parameters.js'

const CREDENTIALS = {
  gitlabToken: '`X-Gitlab-Token`',
  githubSignature: '`X-Hub-Signature-256`',
  bitbucketSignature: '`X-Hub-Signature`',
  reportLink: 'who has the link',
} as const

/** All routes of some lists and who may ask them, as a Markdown table. */
export function routesTable(lists: readonly RouteList[]): string {
  const rows = lists.flatMap(({ routes }) =>
    routes.map(
      (row) => `| \`${row.method} ${pathTemplate(row.path)}\` | ${whoMayAsk(row)} | ${row.summary} |`,
    ),
  )
  return ['| route | role | what it does |', '|---|---|---|', ...rows].join('\n')
}

function whoMayAsk({ roles, credential }: RouteDescription): string {
  if (roles === 'anyone') return 'anyone'
  if (roles !== undefined && roles.length > 0) return roles.join(', ')
  return credential === undefined ? 'nobody' : CREDENTIALS[credential.name]
}
