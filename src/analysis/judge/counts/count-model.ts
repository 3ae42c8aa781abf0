export type CountModel = 'poisson' | 'overdispersed' | 'occurrence'
