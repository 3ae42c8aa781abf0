import type { Command } from 'commander'

import { defineJudge } from './analysis/judge.js'
import {
  defineCancel,
  defineCompare,
  defineList,
  defineReplay,
  defineReport,
  defineShow,
  defineStart,
} from './analysis/runs.js'
import { defineTemplates } from './analysis/templates.js'
import { defineTry } from './analysis/try.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate analysis`: the commands about canaries. Their files only define options; an action loads what it needs. */
export function defineAnalysis(command: Command, session: Session): void {
  command
    .description('Judges canaries against their baseline.')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis judge canary.json',
        'tidegate analysis try shop',
        'tidegate analysis start shop --wait',
        'tidegate analysis show 17',
      ),
    )
  // What the program set for this command, its subcommands take over.
  const add = (name: string): Command => command.command(name)
  defineJudge(add('judge'), session)
  defineTemplates(add('templates'), session)
  defineTry(add('try'), session)
  defineList(add('list'), session)
  defineShow(add('show'), session)
  defineReport(add('report'), session)
  defineCompare(add('compare'), session)
  defineStart(add('start'), session)
  defineCancel(add('cancel'), session)
  defineReplay(add('replay'), session)
}
