# The gateway as an image: only what runs, as a user that owns nothing but its data.
FROM node:26 AS build
WORKDIR /app
COPY . .
# Installing builds the bundle and the dashboard; the image brings Node itself. Then the packages that the package has.
RUN npm ci --no-audit --no-fund \
  && npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm rebuild hnswlib-node

FROM node:26-slim
# The allocator gives freed pieces of a megabyte and more back to the system: bodies and replies are such pieces. Threads
# share one arena: 50 MB of freed memory would stay in those of their own. New objects take half of what they usually do.
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    MALLOC_ARENA_MAX=1 \
    NODE_OPTIONS=--max-semi-space-size=16 \
    HOST=0.0.0.0 \
    PORT=3099 \
    SVC_DATA_DIR=/data \
    NODE_COMPILE_CACHE=/tmp/turnpike
RUN useradd --system --uid 10001 --no-create-home turnpike && install -d -o turnpike -g turnpike /data
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dashboard/dist ./dashboard/dist
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY config ./config
COPY plugins ./plugins
USER turnpike
VOLUME /data
EXPOSE 3099
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Longer than `server.drain_timeout`: running replies may finish (`docker stop --time 40`).
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/turnpike.mjs"]
CMD ["start"]
