import type { Role, RoleGroups } from '../../config/sections/roles.js'
import { ROLES } from '../../config/sections/roles.js'
import { AppError } from '../../errors/app-error.js'
import { foldedName } from '../../lib/text/same-person.js'
import type { Principal } from '../pipeline/authenticate.js'

/** Where the identity provider sends browsers back. */
export const CALLBACK_PATH = '/ui/sign-in/callback'
/** Where it sends them after signing out. */
export const SIGNED_OUT_PATH = '/ui/sign-in'

/** What an identity provider or a proxy says of a person. */
export interface Account {
  readonly name: string
  readonly groups: readonly string[]
  /** The authentication context of the sign-in, if the provider names one. */
  readonly acr?: string | undefined
}

/** The claims that name a person and the person's groups. */
export interface ClaimNames {
  readonly nameClaim: string
  readonly groupsClaim: string
}

type Claims = Readonly<Record<string, unknown>>

/** As for the names of tokens: no spaces at the ends, and short enough for records. */
const NAME = /^\S(?:.{0,98}\S)?$/
const EVERYBODY = '*'

/**
 * Returns the account that claims describe (OpenID Connect Core, 5.1). Raises `forbidden` if they
 * hold no usable name, or if the provider has not verified the address that is the name.
 */
export function accountOf(claims: Claims, { nameClaim, groupsClaim }: ClaimNames): Account {
  const name = claims[nameClaim]
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new AppError(
      'forbidden',
      `The identity provider gave no usable claim ${nameClaim}. Set auth.oidc.nameClaim to a claim with the name of a person, or request the scope that has it.`,
      { code: 'no_name' },
    )
  }
  if (nameClaim === 'email' && claims['email_verified'] === false) {
    throw new AppError('forbidden', `The identity provider has not verified the address ${name}.`, {
      code: 'address_not_verified',
    })
  }
  const { acr } = claims
  return { name, groups: textsOf(claims[groupsClaim]), acr: typeof acr === 'string' ? acr : undefined }
}

/** Some providers send a single group as a text. */
function textsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((each) => typeof each === 'string')
}

/** How accounts become callers. */
export interface AccountRules {
  readonly roles: RoleGroups
  /** Folded names of tokens and certificates. No account may have one of them or a variant. */
  readonly reserved: ReadonlySet<string>
}

/**
 * Returns the caller that an account is. Raises `forbidden` for the name of a token or certificate,
 * since the account would act and approve as that one, and for an account without a role.
 */
export function principalOf({ name, groups, acr }: Account, { roles, reserved }: AccountRules): Principal {
  if (reserved.has(foldedName(name))) {
    throw new AppError(
      'forbidden',
      `The account ${name} has the name of a token or certificate of this service. Rename one of them.`,
      { code: 'name_taken' },
    )
  }
  const own: readonly Role[] = ROLES.filter(
    (role) =>
      role !== 'instance' && roles[role].some((group) => group === EVERYBODY || groups.includes(group)),
  )
  if (own.length === 0) {
    throw new AppError(
      'forbidden',
      `${name} is signed in, but has no role here: none of the account's groups is listed for a role in the configuration of this service. Ask its operators.`,
      { code: 'no_role' },
    )
  }
  return { name, roles: own, groups, account: { acr } }
}
