import type { Command } from 'commander'

import { EXIT } from '../session/session.js'
import { readDocument } from '../input/read-document.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { GateAnswer } from './answers.js'

/** `tidegate gates create`: declares a gate beside those of the configuration. */
export function defineCreate(command: Command, session: Session): void {
  command
    .description(
      'Declares a gate from a JSON or YAML file with name and, where needed, application, pipeline, stage, connectors, approvers, approvals, triggererMayApprove, timeToLiveMinutes and policy. Needs the role admin.',
    )
    .addHelpText('after', examples('tidegate gates create release-gate.yaml'))
    .action(async (file: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const document = await readDocument(file, session.terminal)
      const body: unknown = JSON.parse(Buffer.from(document).toString())
      const gate = await client.ask(GateAnswer, { method: 'POST', path: '/approvalGates', body })
      if (options.format === 'json') outJson(session.terminal, gate)
      else session.terminal.out(`gate ${gate.id}: ${gate.name}\n`)
      session.exitCode = EXIT.fine
    })
}
