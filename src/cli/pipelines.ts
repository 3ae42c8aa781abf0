import type { Command } from 'commander'

import { defineEstateCheck } from './pipelines/check.js'
import { definePull } from './pipelines/pull.js'
import { definePush } from './pipelines/push.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate pipelines`: the commands about the pipelines that the orchestrator has. */
export function definePipelines(command: Command, session: Session): void {
  command
    .description("Reads, checks and stores the orchestrator's pipelines (orchestrator.storageUrl).")
    .addHelpText(
      'after',
      examples(
        'tidegate pipelines pull --application shop > shop.json',
        'tidegate pipelines push shop.json',
        'tidegate pipelines check',
      ),
    )
  // What the program set for this command, its subcommands take over.
  const add = (usage: string): Command => command.command(usage)
  definePull(add('pull'), session)
  definePush(
    add('push').argument(
      '<path...>',
      'definitions as JSON: files, directories (all *.json below), or - for standard input',
    ),
    session,
  )
  defineEstateCheck(add('check'), session)
}
