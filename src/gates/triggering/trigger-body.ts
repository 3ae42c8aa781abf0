import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { refuseTarget } from '../../lib/outbound/refuse-target.js'
import type { AddressPolicy } from '../../lib/outbound/address-policy.js'

/** Callers send texts, arrays and numbers for what the contract calls a string. */
const Anything = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
])
/** Of an id or a URL: it is in indexes, logs and answers. */
const MAX_WORD_LENGTH = 4096
/** An id or a URL as text, without the spaces around it. */
export const Word = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).trim())
  .refine((text) => text !== '', 'must not be empty')
  .refine((text) => text.length <= MAX_WORD_LENGTH, `must not have more than ${MAX_WORD_LENGTH} characters`)

/** What every dialect of the trigger sends; other members are stored as they are. */
const PLUGIN_MEMBERS = {
  executionId: Word,
  approvalCallbackURL: Word,
  rejectionCallbackURL: Word,
  toolConnectorParameters: Anything,
}

/** The trigger as the orchestrator's plugins send it. */
export const PluginTriggerBody = z.looseObject(PLUGIN_MEMBERS)

/** The trigger as the contract writes it (section 4.2): all six members. */
export const ContractTriggerBody = z.looseObject({
  ...PLUGIN_MEMBERS,
  imageIds: Anything,
  connectorType: Anything,
})

export type TriggerBody = z.output<typeof PluginTriggerBody>

/** Raises `invalid` with a sentence for each callback URL that the configuration does not allow. */
export function requireAllowedCallbacks(body: TriggerBody, policy: AddressPolicy): void {
  const details = (['approvalCallbackURL', 'rejectionCallbackURL'] as const).flatMap(
    (name): ErrorDetail[] => {
      const refusal = refuseTarget(body[name], policy)
      return refusal === undefined ? [] : [{ code: 'callback_not_allowed', message: `${name}: ${refusal}` }]
    },
  )
  if (details.length === 0) return
  const sentences = details.map(({ message }) => message).join('; ')
  throw new AppError('invalid', `the gate cannot call back: ${sentences}`, {
    code: 'callback_not_allowed',
    details,
  })
}
