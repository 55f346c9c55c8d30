/** The public route through which a request came. */
export type RouteName = 'messages' | 'chat' | 'responses' | 'agent'
