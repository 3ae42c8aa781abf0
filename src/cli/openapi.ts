import type { Command } from 'commander'

import { loadConfig } from '../config/load-config.js'
import { openApiOptions, openApiDocument } from '../http/openapi/openapi-document.js'
import { pathTemplate } from '../http/openapi/parameters.js'
import { routeLists } from '../http/route-lists.js'
import { packageVersion } from '../lib/package-root.js'
import { EXIT } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { addConfigOption, addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import type { RouteDescription, RouteList } from '../http/pipeline/route.js'

interface OpenApiOptions extends OutputOptions {
  readonly config?: string
  readonly table?: true
}

/** `tidegate openapi`: prints the document at `/openapi.json`. */
export function defineOpenApi(command: Command, session: Session): void {
  addOutputOptions(addConfigOption(command))
    .description(
      'Prints the OpenAPI 3.1 document of all routes, as served at /openapi.json: inputs, responses and required roles.',
    )
    .option('--table', 'print the routes and their roles as a Markdown table')
    .addHelpText('after', examples('tidegate openapi > openapi.json', 'tidegate openapi --table'))
    .action((options: OpenApiOptions) => {
      session.exitCode = printOpenApi(options, session.terminal)
    })
}

function printOpenApi({ config: file, table, format }: OpenApiOptions, terminal: Terminal): ExitCode {
  const { orchestrator, server } = loadConfig({ file, env: terminal.env })
  const lists = routeLists(orchestrator)
  if (table && format === 'json') outJson(terminal, tableOf(lists))
  else if (table) terminal.out(`${routesTable(lists)}\n`)
  else outJson(terminal, openApiDocument(lists, openApiOptions(packageVersion(), server)))
  return EXIT.fine
}

function tableOf(lists: ReturnType<typeof routeLists>): readonly object[] {
  return lists.flatMap(({ routes }) =>
    routes.map(({ method, path, roles, credential, summary }) => ({
      ...{ method, path: pathTemplate(path), roles: roles ?? [], credential: credential?.name, summary },
    })),
  )
}

const CREDENTIALS = {
  gitlabToken: '`X-Gitlab-Token`',
  githubSignature: '`X-Hub-Signature-256`',
  bitbucketSignature: '`X-Hub-Signature`',
  reportLink: 'holders of the link',
} as const

/** Returns all routes with their roles as a Markdown table. */
export function routesTable(lists: readonly RouteList[]): string {
  const rows = lists.flatMap(({ routes }) =>
    routes.map(
      (row) => `| \`${row.method} ${pathTemplate(row.path)}\` | ${allowedCallers(row)} | ${row.summary} |`,
    ),
  )
  return ['| route | role | description |', '|---|---|---|', ...rows].join('\n')
}

function allowedCallers({ roles, credential }: RouteDescription): string {
  if (roles === 'anyone') return 'anyone'
  if (roles !== undefined && roles.length > 0) return roles.join(', ')
  return credential === undefined ? 'nobody' : CREDENTIALS[credential.name]
}
