import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { overallState } from './tool/commit-lookups.js'
import type { CheckState } from './tool/commit-lookups.js'
import { optionalText, shortText } from './tool/tool.js'

/** The most that one page of Bitbucket holds. */
export const PAGE_SIZE = 100

/** The statuses of the builds of a commit, as Cloud (`next`) and Server (`isLastPage`) page them. */
export const Builds = z.object({
  values: z.array(z.object({ state: z.string(), key: shortText, name: optionalText, url: optionalText })),
  next: z.string().nullish(),
  isLastPage: z.boolean().nullish(),
})

/** What the builds say of their commit, and those that did not succeed. */
export function toBuildState({ values, next, isLastPage }: z.output<typeof Builds>): object {
  const hasMore = isLastPage === false || (next ?? null) !== null
  if (hasMore) throw new AppError('too_large', `the commit has more than ${PAGE_SIZE} builds`)
  const builds = values.map(({ state, key, name }) => ({ name: name ?? key, state: toCheckState(state) }))
  return {
    state: overallState(builds.map(({ state }) => state)),
    unfinishedChecks: builds.filter(({ state }) => state !== 'success'),
  }
}

function toCheckState(state: string): CheckState {
  if (state === 'SUCCESSFUL') return 'success'
  return state === 'INPROGRESS' ? 'pending' : 'failure'
}

interface PullRequest {
  readonly id: number
  readonly title: string
  readonly state: string
  readonly draft?: boolean | null | undefined
}

/** What Cloud and Server say alike of a pull request; `reviewers` are those who could approve it. */
export function pullRequestState(
  repository: string,
  pull: PullRequest,
  reviewers: readonly { readonly approved: boolean }[] | null | undefined,
): object {
  return {
    kind: 'pullRequest',
    repository,
    number: pull.id,
    state: pull.state.toLowerCase(),
    isDraft: pull.draft ?? false,
    approvals: (reviewers ?? []).filter(({ approved }) => approved).length,
    title: pull.title,
  }
}
