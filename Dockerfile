# Serve a memory over HTTP:
#
#   docker build -t pastchats-memory .
#   docker run --read-only -p 127.0.0.1:8377:8377 -v "$PWD/memory:/memory" -e PASTCHATS_MEMORY_TOKEN=… pastchats-memory
#
# The folder of the memory belongs to the user of the container, 65534: chown 65534 memory.
FROM python:3.13-slim AS build
COPY . /source
RUN python -m venv /opt/pastchats-memory && /opt/pastchats-memory/bin/pip install --no-cache-dir /source

FROM python:3.13-slim
COPY --from=build /opt/pastchats-memory /opt/pastchats-memory
RUN install -d -m 0700 -o 65534 -g 65534 /memory
USER 65534:65534
ENV PASTCHATS_MEMORY_DB=/memory/memory.db PYTHONDONTWRITEBYTECODE=1
VOLUME /memory
EXPOSE 8377
ENTRYPOINT ["/opt/pastchats-memory/bin/pastchats-memory"]
# An address beyond this machine is refused without PASTCHATS_MEMORY_TOKEN.
CMD ["serve", "--host", "0.0.0.0"]
