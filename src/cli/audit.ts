import type { Command } from 'commander'

import { defineExport } from './audit/export.js'
import { defineKeygen } from './audit/keygen.js'
import { defineSearch } from './audit/search.js'
import { defineShow } from './audit/show.js'
import { defineTimeline } from './audit/timeline.js'
import { defineVerify } from './audit/verify.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate audit`: the commands about the audit trail. */
export function defineAudit(command: Command, session: Session): void {
  command
    .description('Searches, shows, exports and proves the audit trail.')
    .addHelpText(
      'after',
      examples(
        'tidegate audit search --application shop --since 2026-06-01',
        'tidegate audit export --format csv > trail.csv',
        'tidegate audit verify --data-dir data --public-key KEY',
      ),
    )
  // What the program set for this command, its subcommands take over.
  const add = (usage: string): Command => command.command(usage)
  defineSearch(add('search').argument('[words...]', 'in the bodies; word* for all that begin so'), session)
  defineShow(add('show').argument('<seq>', 'the number of the record, as search lists it'), session)
  defineTimeline(add('timeline').argument('<execution>', 'its id at the orchestrator'), session)
  defineExport(add('export'), session)
  defineVerify(add('verify'), session)
  defineKeygen(add('keygen'), session)
}
