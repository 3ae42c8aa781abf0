import type { Command } from 'commander'

import { loadConfig } from '../../config/load-config.js'
import { openApiDocument } from '../../http/openapi/openapi-document.js'
import { routesTable } from '../../http/openapi/routes-table.js'
import { routeLists } from '../../http/route-lists.js'
import { packageVersion } from '../../lib/package-root.js'
import { EXIT } from '../session/session.js'
import type { ExitCode, Session } from '../session/session.js'
import { addConfigOption, examples, outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'

interface OpenApiOptions {
  readonly config?: string
  readonly table?: true
}

/** `tidegate openapi`: what a service started here and now would describe at `/openapi.json`. */
export function defineOpenApi(command: Command, session: Session): void {
  addConfigOption(command)
    .description(
      'Prints the OpenAPI 3.1 document of all routes, as the service shows it at /openapi.json: what they read, what they answer and which roles may ask.',
    )
    .option('--table', 'print the routes and their roles as a Markdown table instead')
    .addHelpText('after', examples('tidegate openapi > openapi.json', 'tidegate openapi --table'))
    .action((options: OpenApiOptions) => {
      session.exitCode = printOpenApi(options, session.terminal)
    })
}

function printOpenApi({ config: file, table }: OpenApiOptions, terminal: Terminal): ExitCode {
  const { orchestrator, server } = loadConfig({ file, env: terminal.env })
  const lists = routeLists(orchestrator)
  const options = { version: packageVersion(), publicUrl: server.publicUrl }
  if (table) terminal.out(`${routesTable(lists)}\n`)
  else outJson(terminal, openApiDocument(lists, options))
  return EXIT.fine
}
